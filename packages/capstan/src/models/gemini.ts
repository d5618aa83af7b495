import type { Model } from "../kernel/model.ts";
import { createEmbeddingModel } from "./embeddings/embedding-model.ts";
import { requireKey } from "./environment.ts";
import { geminiContent } from "./gemini-content.ts";
import { type ClientOptions, joinUrl, pickClientOptions } from "./http-model.ts";
import { createPricer } from "./pricing.ts";
import { withoutFiles } from "./without-files.ts";

export type GeminiOptions = ClientOptions & {
  /** Uses the Google Cloud endpoint instead of an API key. `token` is called for every request. */
  readonly vertex?: {
    readonly project: string;
    readonly location: string;
    token(): string | Promise<string>;
  };
};

/** Google models. The key defaults to `GEMINI_API_KEY`, then `GOOGLE_API_KEY`; Vertex uses a token. */
export function gemini(options: GeminiOptions): Model {
  const { model, apiKey, headers, vertex } = options;
  const base =
    options.baseURL ??
    (vertex
      ? `${buildVertexUrl(vertex)}/publishers/google`
      : "https://generativelanguage.googleapis.com/v1beta");
  const provider = vertex ? "vertex" : "gemini";
  return createEmbeddingModel({
    id: `${provider}/${model}`,
    api: "gemini",
    wire: vertex ? withoutFiles(geminiContent) : geminiContent,
    ...pickClientOptions(options),
    price: createPricer({ provider, model, prices: options.prices }),
    url: (streams) =>
      joinUrl(base, `/models/${model}:${streams ? "streamGenerateContent?alt=sse" : "generateContent"}`),
    embeddings: {
      api: vertex ? "vertex" : "gemini",
      url: () => joinUrl(base, `/models/${model}:${vertex ? "predict" : "batchEmbedContents"}`),
    },
    headers: async () => ({
      ...(vertex
        ? { authorization: `Bearer ${await vertex.token()}` }
        : { "x-goog-api-key": requireKey("Gemini", apiKey, ["GEMINI_API_KEY", "GOOGLE_API_KEY"]) }),
      ...headers,
    }),
    ...(!vertex && {
      loadFiles: async (connection) =>
        (await import("./files/gemini-files.ts")).createGeminiFiles(connection, base),
    }),
  });
}

/** Builds the URL of a project in Google Cloud. `us` and `eu` are locations of several regions. */
export function buildVertexUrl({
  project,
  location,
}: {
  readonly project: string;
  readonly location: string;
}): string {
  const host =
    location === "us" || location === "eu"
      ? `aiplatform.${location}.rep.googleapis.com`
      : `${location === "global" ? "" : `${location}-`}aiplatform.googleapis.com`;
  return `https://${host}/v1/projects/${project}/locations/${location}`;
}
