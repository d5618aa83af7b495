import type {
  Embeddings,
  EmbedOptions,
  Model,
  Reranking,
  RerankOptions,
  RerankRequest,
} from "../kernel/model.ts";
import { createUnsupportedError } from "./embeddings/unsupported.ts";
import { getNamedModel } from "./named-model.ts";

/** A model client, or a name such as `openai/text-embedding-3-small`. */
export type ModelOrName = Model | string;

/** Returns one vector per text, in order. Throws `invalid_input` if the provider has no embeddings. */
export async function embed(
  model: ModelOrName,
  texts: readonly string[],
  options?: EmbedOptions,
): Promise<Embeddings> {
  const client = typeof model === "string" ? getNamedModel(model) : model;
  if (!client.embed) throw createUnsupportedError(client.id, "embeddings");
  return client.embed(texts, options);
}

/** Returns the documents by their relevance for the query. Throws `invalid_input` if the provider does not rerank. */
export async function rerank(
  model: ModelOrName,
  request: RerankRequest,
  options?: RerankOptions,
): Promise<Reranking> {
  const client = typeof model === "string" ? getNamedModel(model) : model;
  if (!client.rerank) throw createUnsupportedError(client.id, "reranking");
  return client.rerank(request, options);
}
