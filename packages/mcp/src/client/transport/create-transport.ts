import { StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import type { ServerConfig } from "../config/server-config.ts";
import type { SignInProvider } from "../oauth/oauth-provider.ts";
import { withSizeLimit } from "./capped-fetch.ts";
import { createRestTransport } from "./rest-transport.ts";
import { createStdioTransport, type TransportLog } from "./stdio-transport.ts";

export type TransportOptions = {
  readonly fetch: typeof globalThis.fetch;
  /** For servers that require sign-in. */
  readonly signInProvider: SignInProvider | undefined;
};

/** Creates the transport for a server's configuration. */
export function createTransport(
  config: ServerConfig,
  logger: TransportLog,
  { fetch, signInProvider }: TransportOptions,
): Transport {
  if ("command" in config) return createStdioTransport(config, logger);
  const { url, headers = {}, type } = config;
  const limitedFetch = withSizeLimit(fetch);
  if (type === "http-rest") return createRestTransport({ url, headers, fetch: limitedFetch });
  return new StreamableHTTPClientTransport(new URL(url), {
    fetch: signInProvider?.fetch ?? limitedFetch,
    requestInit: { headers },
    redirectPolicy: "same-origin",
    ...(signInProvider && { authProvider: signInProvider }),
  });
}
