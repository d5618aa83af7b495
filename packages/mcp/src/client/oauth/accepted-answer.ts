import { AgentError } from "capstan";
import { isSameSecret } from "./same-secret.ts";
import { signInProblem } from "./sign-in-failure.ts";

/** What an accepted answer gives to the SDK, which compares `iss` with the authorization server that was asked. */
export type AcceptedAnswer = { readonly authorizationCode: string; readonly iss?: string };

/** RFC 6749, 4.1.2.1, and what OpenID Connect adds. Other codes are not repeated. */
const refusals: ReadonlySet<string> = new Set([
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

/** The code in an answer, when it answers the question with this `state` and grants what was asked for. */
export function acceptedAnswer(server: string, query: URLSearchParams, state: string): AcceptedAnswer {
  const given = single(query, "state");
  if (given === undefined || !isSameSecret(given, state)) {
    const message = `The answer to the sign-in at "${server}" belongs to another question. Sign in again.`;
    throw new AgentError("security", message);
  }
  const error = query.get("error");
  if (error !== null)
    throw signInProblem(server, `it was refused${refusals.has(error) ? ` (${error})` : ""}. Try again`);
  const code = single(query, "code");
  if (!code) throw signInProblem(server, "the answer had no code in it. Try again");
  const iss = query.get("iss");
  return { authorizationCode: code, ...(iss !== null && { iss }) };
}

function single(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  return values.length === 1 ? values[0] : undefined;
}
