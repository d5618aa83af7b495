import {
  type FetchLike,
  isHttpsUrl,
  type OAuthClientMetadata,
  type OAuthClientProvider,
} from "@modelcontextprotocol/client";
import { AgentError } from "capstan";
import { createAuthorizationFlow } from "./authorization-flow.ts";
import { createOAuthFetch } from "./oauth-fetch.ts";
import type { Redirect } from "./redirect.ts";
import { createCredentialMethods } from "./stored-credentials.ts";
import type { TokenStore } from "./token-store.ts";

export type OAuthOptions = {
  /** Name of the server in the configuration. */
  readonly server: string;
  readonly serverUrl: string | URL;
  readonly tokens: TokenStore;
  readonly redirect: Redirect;
  /** Shown to the user by the authorization server. */
  readonly clientName?: string;
  /** Requested if the server does not say which scope it needs. */
  readonly scope?: string;
  /** A registered client. Without one, a client is registered dynamically. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** An https URL that describes this client, for authorization servers that accept it as client id. */
  readonly clientMetadataUrl?: string;
  readonly fetch?: FetchLike;
};

/** A provider for the SDK's transports that also completes sign-ins; see `withSignIn`. */
export type SignInProvider = OAuthClientProvider & {
  readonly server: string;
  /** The guarded `fetch`, for the transport and the sign-in. */
  readonly fetch: FetchLike;
  /** Settles with the last sign-in. Rejects with an `AgentError`, including when none was started. */
  waitForSignIn(): Promise<void>;
  cancelSignIn(): void;
  /** Whether tokens were stored when they were last read. */
  isSignedIn(): boolean;
  /** Deletes the tokens. */
  signOut(): Promise<void>;
};

export function createOAuthProvider(options: OAuthOptions): SignInProvider {
  const { server, redirect, clientMetadataUrl } = options;
  const serverUrl = new URL(options.serverUrl);
  const fetch = createOAuthFetch(serverUrl, options.fetch);
  const provider: SignInProvider = {
    ...createCredentialMethods(options),
    ...createAuthorizationFlow({ server, serverUrl, redirect, fetch, provider: () => provider }),
    server,
    fetch,
    // A callback of a server is known only when a user signs in there.
    get redirectUrl() {
      return redirect.url;
    },
    get clientMetadata() {
      return buildClientMetadata(options);
    },
    ...(clientMetadataUrl && { clientMetadataUrl: assertMetadataUrl(server, clientMetadataUrl) }),
  };
  return provider;
}

function buildClientMetadata({ clientName = "Capstan", scope, redirect }: OAuthOptions): OAuthClientMetadata {
  return {
    client_name: clientName,
    redirect_uris: [redirect.url],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    ...(scope && { scope }),
  };
}

function assertMetadataUrl(server: string, url: string): string {
  if (isHttpsUrl(url)) return url;
  throw new AgentError(
    "mcp_config",
    `The server "${server}" has an invalid \`clientMetadataUrl\`: use an https URL with a path.`,
  );
}
