import type { Model } from "../model.ts";
import { anthropicMessages } from "./anthropic-messages.ts";
import { readEnv, requireKey } from "./environment.ts";
import { type ClientOptions, createHttpModel, joinUrl, pickSettings } from "./http-model.ts";
import { createPricer } from "./pricing.ts";

/** Anthropic models. The key defaults to `ANTHROPIC_API_KEY`, or the token `ANTHROPIC_AUTH_TOKEN`. */
export function anthropic(options: ClientOptions): Model {
  const { model, stream, fetch, timeouts, circuit, clock, headers } = options;
  const base = options.baseURL ?? readEnv("ANTHROPIC_BASE_URL") ?? "https://api.anthropic.com";
  return createHttpModel({
    id: `anthropic/${model}`,
    api: "anthropic",
    wire: anthropicMessages,
    settings: pickSettings(options),
    stream,
    fetch,
    timeouts,
    circuit,
    clock,
    price: createPricer({ provider: "anthropic", model, prices: options.prices }),
    url: () => joinUrl(base, "/v1/messages"),
    headers: () => ({ ...buildCredentials(options.apiKey), "anthropic-version": "2023-06-01", ...headers }),
    contentHeaders: (body) => (body.includes(fileSource) ? addFilesBeta(headers) : {}),
    loadFiles: async (connection) =>
      (await import("./files/form-files.ts")).createFormFiles(connection, {
        provider: "anthropic",
        url: joinUrl(base, "/v1/files"),
        headers: addFilesBeta(headers),
      }),
  });
}

/** A reference to a file in a request; a quote in a text would be escaped. */
const fileSource = '"source":{"type":"file"';
const filesBeta = "files-api-2025-04-14";

/** Adds the version of the files API to the beta features that the user has enabled. */
function addFilesBeta(headers: ClientOptions["headers"] = {}): Record<string, string> {
  const name = Object.keys(headers).find((key) => key.toLowerCase() === "anthropic-beta");
  return name === undefined ? { "anthropic-beta": filesBeta } : { [name]: `${headers[name]},${filesBeta}` };
}

function buildCredentials(apiKey: string | undefined): Record<string, string> {
  const token = apiKey ? undefined : readEnv("ANTHROPIC_AUTH_TOKEN");
  if (token) return { authorization: `Bearer ${token}` };
  return { "x-api-key": requireKey("Anthropic", apiKey, ["ANTHROPIC_API_KEY"]) };
}
