import {
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { cappedFetch } from "./capped-fetch.ts";
import type { ServerConfig } from "./config.ts";
import { guardedStdio, type Journal } from "./guarded-stdio.ts";
import { restTransport } from "./rest-transport.ts";

export type Outside = {
  readonly fetch: typeof globalThis.fetch;
  readonly authProvider: OAuthClientProvider | undefined;
};

/** The way to a server, by its configuration. */
export function transportTo(
  config: ServerConfig,
  journal: Journal,
  { fetch, authProvider }: Outside,
): Transport {
  if ("command" in config) return guardedStdio(config, journal);
  const { url, headers = {}, type } = config;
  const capped = cappedFetch(fetch);
  if (type === "http-rest") return restTransport({ url, headers, fetch: capped });
  return new StreamableHTTPClientTransport(new URL(url), {
    fetch: capped,
    requestInit: { headers },
    redirectPolicy: "same-origin",
    ...(authProvider && { authProvider }),
  });
}
