import type { Model } from "../../kernel/model.ts";
import { createHttpModel, type HttpModelOptions } from "../http-model.ts";
import type { EmbeddingApiName } from "./embedding-apis.ts";

/** A client whose provider also embeds or reranks. */
export type EmbeddingClient = HttpModelOptions & {
  readonly embeddings: {
    readonly api: EmbeddingApiName;
    url(): string;
    /** The name in the request. Default: the model's. */
    readonly model?: string;
  };
  /** Undefined if the provider does not rerank. */
  rerankUrl?(): string;
};

/** Creates a model over HTTP that embeds and reranks. The code for it is loaded on first use. */
export function createEmbeddingModel(client: EmbeddingClient): Model {
  return {
    ...createHttpModel(client),
    embed: async (texts, options) => (await import("./embed-texts.ts")).embedTexts(client, texts, options),
    ...(client.rerankUrl && {
      rerank: async (request, options) =>
        (await import("./rerank-documents.ts")).rerankDocuments(client, request, options),
    }),
  };
}
