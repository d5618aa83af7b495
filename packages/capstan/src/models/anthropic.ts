import type { Model } from "../model.ts";
import { anthropicMessages } from "./anthropic-messages.ts";
import { environment, keyFrom } from "./environment.ts";
import { type ClientOptions, httpModel, joinedUrl, settingsOf } from "./http-model.ts";
import { priced } from "./pricing.ts";

/** Anthropic's models. The key is `ANTHROPIC_API_KEY` (or a token, `ANTHROPIC_AUTH_TOKEN`), unless given. */
export function anthropic(options: ClientOptions): Model {
  const { model, stream, fetch, timeouts, circuit, headers } = options;
  const base = options.baseURL ?? environment("ANTHROPIC_BASE_URL") ?? "https://api.anthropic.com";
  return httpModel({
    id: `anthropic/${model}`,
    wire: anthropicMessages,
    settings: settingsOf(options),
    stream,
    fetch,
    timeouts,
    circuit,
    price: priced({ provider: "anthropic", model, prices: options.prices }),
    url: () => joinedUrl(base, "/v1/messages"),
    headers: () => ({ ...credentials(options.apiKey), "anthropic-version": "2023-06-01", ...headers }),
  });
}

function credentials(apiKey: string | undefined): Record<string, string> {
  const token = apiKey ? undefined : environment("ANTHROPIC_AUTH_TOKEN");
  if (token) return { authorization: `Bearer ${token}` };
  return { "x-api-key": keyFrom("Anthropic", apiKey, ["ANTHROPIC_API_KEY"]) };
}
