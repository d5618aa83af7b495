import type {
  OAuthClientProvider,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import type { OAuthOptions, SignInProvider } from "./oauth-provider.ts";
import { createSignInError } from "./sign-in-error.ts";
import { type Credentials, getServerKey } from "./token-store.ts";

type CredentialMethods = Pick<
  OAuthClientProvider,
  "clientInformation" | "saveClientInformation" | "tokens" | "saveTokens" | "invalidateCredentials"
> &
  Pick<SignInProvider, "isSignedIn" | "signOut">;

/** The part of a provider that stores the registration and the tokens. */
export function createCredentialMethods(options: OAuthOptions): CredentialMethods {
  const { server, tokens: store } = options;
  const key = getServerKey(options.serverUrl);
  let usedRefreshToken: string | undefined;
  let hasTokens = false;
  return {
    clientInformation: async () => findClient((await store.read(key)).client, options),
    saveClientInformation: (client) => {
      // A configured secret stays in the configuration; only its authorization server is stored.
      const { client_id, issuer } = client;
      const storedClient = options.clientId === undefined ? client : { client_id, ...(issuer && { issuer }) };
      return store.update(key, (current) => ({ ...current, client: storedClient }));
    },
    async tokens(context) {
      const { tokens } = await store.read(key);
      if (context) usedRefreshToken = tokens?.refresh_token;
      hasTokens = tokens !== undefined;
      return tokens;
    },
    saveTokens(tokens) {
      assertUsableTokens(server, tokens);
      hasTokens = true;
      return store.update(key, (current) => ({ ...current, tokens }));
    },
    isSignedIn: () => hasTokens,
    async signOut() {
      await store.update(key, ({ client }): Credentials => (client ? { client } : {}));
      hasTokens = false;
    },
    async invalidateCredentials(scope) {
      if (scope === "verifier" || scope === "discovery") return; // they end with the sign-in
      await store.update(key, ({ client, tokens }): Credentials => {
        // Another process may have refreshed the tokens meanwhile.
        const isNewer = tokens?.refresh_token !== undefined && tokens.refresh_token !== usedRefreshToken;
        return {
          ...(scope === "tokens" && client && { client }),
          ...((scope === "client" || (scope === "tokens" && isNewer)) && tokens && { tokens }),
        };
      });
    },
  };
}

/** Ignores a registration for another redirect URL or configuration. */
function findClient(
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

/** A token that is not a valid header value would appear in the error message. */
function assertUsableTokens(server: string, { access_token, token_type }: StoredOAuthTokens): void {
  if (!/^[\x21-\x7e]+$/.test(access_token) || token_type.toLowerCase() !== "bearer")
    throw createSignInError(server, "it issued an invalid token");
}
