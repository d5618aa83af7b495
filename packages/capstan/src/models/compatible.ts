import type { Model } from "../model.ts";
import { type ClientOptions, httpModel, joinedUrl, settingsOf } from "./http-model.ts";
import { type ChatQuirks, chatWire } from "./openai-chat.ts";
import { priced } from "./pricing.ts";

export type CompatibleOptions = ClientOptions & {
  readonly baseURL: string;
  /** How the server differs from OpenAI's. */
  readonly quirks?: ChatQuirks;
  /** The first part of the model's id; by default the host. */
  readonly provider?: string;
};

/** Any server that speaks OpenAI's chat completions: Ollama, vLLM, llama.cpp, LM Studio, OpenRouter, Groq and others. */
export function compatible(options: CompatibleOptions): Model {
  const { model, apiKey, baseURL, stream, fetch, timeouts, circuit, headers, quirks = {} } = options;
  const provider = options.provider ?? (URL.canParse(baseURL) ? new URL(baseURL).hostname : "compatible");
  return httpModel({
    id: `${provider}/${model}`,
    wire: chatWire({ name: provider, ...quirks }),
    settings: settingsOf(options),
    stream,
    fetch,
    timeouts,
    circuit,
    price: priced({ provider, model, prices: options.prices }),
    url: () => joinedUrl(baseURL, "/chat/completions"),
    headers: () => ({ ...(apiKey && { authorization: `Bearer ${apiKey}` }), ...headers }),
  });
}
