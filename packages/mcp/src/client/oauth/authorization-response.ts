import { AgentError } from "capstan";
import { areSecretsEqual } from "./compare-secrets.ts";
import { createSignInError } from "./sign-in-error.ts";

/** For the SDK, which checks that `iss` is the authorization server that received the request. */
export type AuthorizationCode = { readonly authorizationCode: string; readonly iss?: string };

/** Codes of RFC 6749, 4.1.2.1, and OpenID Connect. Other codes are not repeated in messages. */
const knownErrors: ReadonlySet<string> = new Set([
  ...[
    "invalid_request",
    "unauthorized_client",
    "access_denied",
    "unsupported_response_type",
    "invalid_scope",
  ],
  ...[
    "server_error",
    "temporarily_unavailable",
    "login_required",
    "consent_required",
    "interaction_required",
  ],
]);

/** Returns the code of a response. Throws if the `state` does not match or the request was refused. */
export function parseAuthorizationResponse(
  server: string,
  query: URLSearchParams,
  state: string,
): AuthorizationCode {
  const givenState = getSingleValue(query, "state");
  if (givenState === undefined || !areSecretsEqual(givenState, state)) {
    const message = `The response to the sign-in at "${server}" has a wrong state. Sign in again.`;
    throw new AgentError("security", message);
  }
  const error = query.get("error");
  if (error !== null)
    throw createSignInError(
      server,
      `it was refused${knownErrors.has(error) ? ` (${error})` : ""}. Try again`,
    );
  const code = getSingleValue(query, "code");
  if (!code) throw createSignInError(server, "the response has no code. Try again");
  const iss = query.get("iss");
  return { authorizationCode: code, ...(iss !== null && { iss }) };
}

function getSingleValue(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  return values.length === 1 ? values[0] : undefined;
}
