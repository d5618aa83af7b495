import {
  AuthorizationServerMismatchError,
  InsecureTokenEndpointError,
  InsufficientScopeError,
  IssuerMismatchError,
  OAuthClientFlowError,
  OAuthError,
  OAuthErrorCode,
  RegistrationRejectedError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { AgentError } from "capstan";

const longestMessage = 500;
const knownCodes: ReadonlySet<string> = new Set(Object.values(OAuthErrorCode));

/** An error that says that a person must sign in, and why that did not work. */
export function signInProblem(server: string, problem: string): AgentError {
  const message = `The server "${server}" needs you to sign in: ${problem}.`;
  return new AgentError("mcp_disconnected", message, { retryable: false });
}

/**
 * The named error for what ended a sign-in, or nothing for what has nothing to do with one. What a server or a page
 * sent is not repeated.
 */
export function signInFailure(server: string, error: unknown): AgentError | undefined {
  const named = namedCause(error);
  if (named) return named;
  if (error instanceof UnauthorizedError)
    return signInProblem(server, "it does not accept the token it gave");
  if (error instanceof OAuthError) {
    const code = knownCodes.has(error.code) ? error.code : "an error of its own";
    return signInProblem(server, `its authorization server refused (${code})`);
  }
  if (error instanceof OAuthClientFlowError) return signInProblem(server, flowProblem(error));
  if (isMarked(error)) return signInProblem(server, `it failed${reasonOf(error)}`);
  return undefined;
}

/** The SDK marks what ends a sign-in on its way out of a transport. */
function isMarked(error: unknown): boolean {
  return error instanceof Error && Reflect.get(error, Symbol.for("mcp.authSeamEscape")) === true;
}

/** The same, for an error that is known to come from a sign-in. */
export function certainSignInFailure(server: string, error: unknown): AgentError {
  return signInFailure(server, error) ?? signInProblem(server, `it failed${reasonOf(error)}`);
}

/** What the SDK says of an answer that has not the right form is a page of JSON. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if (error.name.endsWith("ZodError")) return ": its authorization server gave an answer that is not valid";
  return ` (${error.message.slice(0, longestMessage)})`;
}

function flowProblem(error: OAuthClientFlowError): string {
  if (error instanceof IssuerMismatchError || error instanceof AuthorizationServerMismatchError)
    return "the answer is not from the authorization server that was asked. Do not try again before you know why";
  if (error instanceof RegistrationRejectedError)
    return "its authorization server does not let us register. Give a client id";
  if (error instanceof InsecureTokenEndpointError) return "its authorization server has no https";
  if (error instanceof InsufficientScopeError) return "what you agreed to is not enough for this call";
  return "it failed";
}

function namedCause(error: unknown): AgentError | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1)
    if (at.name === "AgentError") return at as AgentError;
  return undefined;
}
