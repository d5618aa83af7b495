import { StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { cappedFetch } from "./capped-fetch.ts";
import type { ServerConfig } from "./config.ts";
import { guardedStdio, type Journal } from "./guarded-stdio.ts";
import type { SignInProvider } from "./oauth/oauth-provider.ts";
import { restTransport } from "./rest-transport.ts";

export type Outside = {
  readonly fetch: typeof globalThis.fetch;
  /** Of a server that people sign in to. */
  readonly signInProvider: SignInProvider | undefined;
};

/** The way to a server, by its configuration. */
export function transportTo(
  config: ServerConfig,
  journal: Journal,
  { fetch, signInProvider }: Outside,
): Transport {
  if ("command" in config) return guardedStdio(config, journal);
  const { url, headers = {}, type } = config;
  const capped = cappedFetch(fetch);
  if (type === "http-rest") return restTransport({ url, headers, fetch: capped });
  return new StreamableHTTPClientTransport(new URL(url), {
    fetch: signInProvider?.fetch ?? capped,
    requestInit: { headers },
    redirectPolicy: "same-origin",
    ...(signInProvider && { authProvider: signInProvider }),
  });
}
