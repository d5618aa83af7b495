import type { Model } from "../kernel/model.ts";
import { createEmbeddingModel } from "./embeddings/embedding-model.ts";
import { readEnv, requireKey } from "./environment.ts";
import { type ClientOptions, joinUrl, pickClientOptions } from "./http-model.ts";
import { openAiChat } from "./openai-chat.ts";
import { openAiResponses } from "./openai-responses.ts";
import { createPricer } from "./pricing.ts";

export type OpenAiOptions = ClientOptions & {
  /** Default: `responses`, which preserves reasoning between turns. */
  readonly api?: "responses" | "chat";
};

/** OpenAI models. The key defaults to `OPENAI_API_KEY`, the base URL to `OPENAI_BASE_URL`. */
export function openai(options: OpenAiOptions): Model {
  const { api = "responses", model, apiKey, headers } = options;
  const base = options.baseURL ?? readEnv("OPENAI_BASE_URL") ?? "https://api.openai.com/v1";
  const path = api === "responses" ? "/responses" : "/chat/completions";
  return createEmbeddingModel({
    id: `openai/${model}`,
    api: api === "responses" ? "openai-responses" : "openai-chat",
    wire: api === "responses" ? openAiResponses : openAiChat,
    ...pickClientOptions(options),
    price: createPricer({ provider: "openai", model, prices: options.prices }),
    url: () => joinUrl(base, path),
    embeddings: { api: "openai", url: () => joinUrl(base, "/embeddings") },
    headers: () => ({
      authorization: `Bearer ${requireKey("OpenAI", apiKey, ["OPENAI_API_KEY"])}`,
      ...headers,
    }),
    loadFiles: async (connection) =>
      (await import("./files/form-files.ts")).createFormFiles(connection, {
        provider: "openai",
        url: joinUrl(base, "/files"),
      }),
  });
}
