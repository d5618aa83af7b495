import type {
  OAuthClientProvider,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import type { OAuthOptions } from "./oauth-provider.ts";
import { signInProblem } from "./sign-in-failure.ts";
import { type Credentials, serverKey } from "./token-store.ts";

type Stored = Pick<
  OAuthClientProvider,
  "clientInformation" | "saveClientInformation" | "tokens" | "saveTokens" | "invalidateCredentials"
>;

/** The part of a provider that keeps registration and tokens. */
export function storedCredentials(options: OAuthOptions): Stored {
  const { server, tokens: store } = options;
  const key = serverKey(options.serverUrl);
  let handedOut: string | undefined;
  return {
    clientInformation: async () => knownClient((await store.read(key)).client, options),
    saveClientInformation: (client) => {
      // A configured secret stays in the configuration; which authorization server it is for is kept.
      const { client_id, issuer } = client;
      const kept = options.clientId === undefined ? client : { client_id, ...(issuer && { issuer }) };
      return store.update(key, (current) => ({ ...current, client: kept }));
    },
    async tokens(context) {
      const { tokens } = await store.read(key);
      if (context) handedOut = tokens?.refresh_token;
      return tokens;
    },
    saveTokens(tokens) {
      checkTokens(server, tokens);
      return store.update(key, (current) => ({ ...current, tokens }));
    },
    async invalidateCredentials(scope) {
      if (scope === "verifier" || scope === "discovery") return; // they end with the question itself
      await store.update(key, ({ client, tokens }): Credentials => {
        // Another process may have renewed the tokens while this one was refused.
        const isNewer = tokens?.refresh_token !== undefined && tokens.refresh_token !== handedOut;
        return {
          ...(scope === "tokens" && client && { client }),
          ...((scope === "client" || (scope === "tokens" && isNewer)) && tokens && { tokens }),
        };
      });
    },
  };
}

/** A registration for another redirect URL or of another configuration is none. */
function knownClient(
  client: StoredOAuthClientInformation | undefined,
  { clientId, clientSecret, clientMetadataUrl, redirect }: OAuthOptions,
): StoredOAuthClientInformation | undefined {
  if (clientId !== undefined) {
    const issuer = client?.client_id === clientId ? client.issuer : undefined;
    return {
      client_id: clientId,
      ...(clientSecret && { client_secret: clientSecret }),
      ...(issuer && { issuer }),
    };
  }
  if (!client) return undefined;
  const isOurs =
    "redirect_uris" in client
      ? client.redirect_uris.includes(redirect.url)
      : client.client_id === clientMetadataUrl;
  return isOurs ? client : undefined;
}

/** A token that is no header value would be in the message of the error that says so. */
function checkTokens(server: string, { access_token, token_type }: StoredOAuthTokens): void {
  if (!/^[\x21-\x7e]+$/.test(access_token) || token_type.toLowerCase() !== "bearer")
    throw signInProblem(server, "it gave a token that cannot be used");
}
