import type { Model } from "../kernel/model.ts";
import { listServerLimits } from "../kernel/settings/servers.ts";
import { createEmbeddingModel } from "./embeddings/embedding-model.ts";
import { type ClientOptions, joinUrl, pickClientOptions } from "./http-model.ts";
import { type ChatQuirks, createChatWire } from "./openai-chat.ts";
import { createPricer } from "./pricing.ts";

export type CompatibleOptions = ClientOptions & {
  readonly baseURL: string;
  /** How the server differs from OpenAI. */
  readonly quirks?: ChatQuirks;
  /** Prefix of the model's id. Default: the host. */
  readonly provider?: string;
};

/** Any server with an OpenAI-compatible chat completions API: Ollama, vLLM, llama.cpp, LM Studio, OpenRouter, Groq and others. */
export function compatible(options: CompatibleOptions): Model {
  const { model, apiKey, baseURL, headers, quirks = {} } = options;
  const provider = options.provider ?? (URL.canParse(baseURL) ? new URL(baseURL).hostname : "compatible");
  return createEmbeddingModel({
    id: `${provider}/${model}`,
    api: listServerLimits(quirks),
    wire: createChatWire({ name: provider, ...quirks }),
    ...pickClientOptions(options),
    price: createPricer({ provider, model, prices: options.prices }),
    url: () => joinUrl(baseURL, "/chat/completions"),
    embeddings: { api: "compatible", url: () => joinUrl(baseURL, "/embeddings") },
    rerankUrl: () => joinUrl(baseURL, "/rerank"),
    headers: () => ({ ...(apiKey && { authorization: `Bearer ${apiKey}` }), ...headers }),
  });
}
