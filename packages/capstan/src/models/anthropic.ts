import type { Model } from "../kernel/model.ts";
import { filesBeta } from "./anthropic-messages/request.ts";
import { anthropicMessages } from "./anthropic-messages.ts";
import { readEnv, requireKey } from "./environment.ts";
import {
  type ClientOptions,
  createHttpModel,
  extendHeaders,
  joinUrl,
  pickClientOptions,
} from "./http-model.ts";
import { createPricer } from "./pricing.ts";

/** Anthropic models. The key defaults to `ANTHROPIC_API_KEY`, or the token `ANTHROPIC_AUTH_TOKEN`. */
export function anthropic(options: ClientOptions): Model {
  const { model, headers = {} } = options;
  const base = options.baseURL ?? readEnv("ANTHROPIC_BASE_URL") ?? "https://api.anthropic.com";
  return createHttpModel({
    id: `anthropic/${model}`,
    api: "anthropic",
    wire: anthropicMessages,
    ...pickClientOptions(options),
    price: createPricer({ provider: "anthropic", model, prices: options.prices }),
    url: () => joinUrl(base, "/v1/messages"),
    headers: () => ({ ...buildCredentials(options.apiKey), "anthropic-version": "2023-06-01", ...headers }),
    loadFiles: async (connection) =>
      (await import("./files/form-files.ts")).createFormFiles(connection, {
        provider: "anthropic",
        url: joinUrl(base, "/v1/files"),
        headers: extendHeaders(headers, { "anthropic-beta": filesBeta }),
      }),
  });
}

function buildCredentials(apiKey: string | undefined): Record<string, string> {
  const token = apiKey ? undefined : readEnv("ANTHROPIC_AUTH_TOKEN");
  if (token) return { authorization: `Bearer ${token}` };
  return { "x-api-key": requireKey("Anthropic", apiKey, ["ANTHROPIC_API_KEY"]) };
}
