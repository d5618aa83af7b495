import type { Model } from "../model.ts";
import { environment, keyFrom } from "./environment.ts";
import { type ClientOptions, httpModel, joinedUrl, settingsOf } from "./http-model.ts";
import { openAiChat } from "./openai-chat.ts";
import { openAiResponses } from "./openai-responses.ts";
import { priced } from "./pricing.ts";

export type OpenAiOptions = ClientOptions & {
  /** By default `responses`, which keeps a model's reasoning between turns. */
  readonly api?: "responses" | "chat";
};

/** OpenAI's models. The key is `OPENAI_API_KEY`, the address `OPENAI_BASE_URL`, unless given. */
export function openai(options: OpenAiOptions): Model {
  const { api = "responses", model, apiKey, stream, fetch, timeouts, circuit, headers } = options;
  const base = options.baseURL ?? environment("OPENAI_BASE_URL") ?? "https://api.openai.com/v1";
  const path = api === "responses" ? "/responses" : "/chat/completions";
  return httpModel({
    id: `openai/${model}`,
    wire: api === "responses" ? openAiResponses : openAiChat,
    settings: settingsOf(options),
    stream,
    fetch,
    timeouts,
    circuit,
    price: priced({ provider: "openai", model, prices: options.prices }),
    url: () => joinedUrl(base, path),
    headers: () => ({ authorization: `Bearer ${keyFrom("OpenAI", apiKey, ["OPENAI_API_KEY"])}`, ...headers }),
  });
}
