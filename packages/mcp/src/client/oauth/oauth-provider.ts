import {
  type FetchLike,
  isHttpsUrl,
  type OAuthClientMetadata,
  type OAuthClientProvider,
} from "@modelcontextprotocol/client";
import { AgentError } from "capstan";
import { oauthFetch } from "./oauth-fetch.ts";
import { openQuestion } from "./open-question.ts";
import type { Redirect } from "./redirect.ts";
import { storedCredentials } from "./stored-credentials.ts";
import type { TokenStore } from "./token-store.ts";

/** Who signs in where, and where the tokens are kept. */
export type OAuthOptions = {
  /** The name of the server in the configuration. */
  readonly server: string;
  readonly serverUrl: string | URL;
  readonly tokens: TokenStore;
  readonly redirect: Redirect;
  /** What the authorization server may show to the person. */
  readonly clientName?: string;
  /** What is asked for when the server does not say what it needs. */
  readonly scope?: string;
  /** A client that is registered already. Without one we register ourselves. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** An https URL under which a description of this client lies, for authorization servers that take one as client id. */
  readonly clientMetadataUrl?: string;
  readonly fetch?: FetchLike;
};

/** A provider for the SDK's transports that also brings a sign-in to its end; see `withSignIn`. */
export type SignInProvider = OAuthClientProvider & {
  readonly server: string;
  /** For the transport: the guarded `fetch` that the sign-in uses too. */
  readonly fetch: FetchLike;
  /** Settles with the sign-in that was begun last: rejects with a named error, also when none was begun. */
  signedIn(): Promise<void>;
  /** Ends a sign-in that is under way. */
  cancelSignIn(): void;
};

/** Makes a provider for one server. */
export function oauthProvider(options: OAuthOptions): SignInProvider {
  const { server, redirect, clientMetadataUrl } = options;
  const serverUrl = new URL(options.serverUrl);
  const fetch = oauthFetch(serverUrl, options.fetch);
  const provider: SignInProvider = {
    ...storedCredentials(options),
    ...openQuestion({ server, serverUrl, redirect, fetch, provider: () => provider }),
    server,
    fetch,
    redirectUrl: redirect.url,
    clientMetadata: clientMetadata(options),
    ...(clientMetadataUrl && { clientMetadataUrl: checkedMetadataUrl(server, clientMetadataUrl) }),
  };
  return provider;
}

function clientMetadata({ clientName = "Capstan", scope, redirect }: OAuthOptions): OAuthClientMetadata {
  return {
    client_name: clientName,
    redirect_uris: [redirect.url],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    ...(scope && { scope }),
  };
}

function checkedMetadataUrl(server: string, url: string): string {
  if (isHttpsUrl(url)) return url;
  throw new AgentError("mcp_config", `The server "${server}" needs an https URL with a path for its client.`);
}
