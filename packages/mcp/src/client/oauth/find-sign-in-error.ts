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
import type { AgentError } from "capstan";
import { createSignInError } from "./sign-in-error.ts";

const maxReasonLength = 500;
const knownCodes: ReadonlySet<string> = new Set(Object.values(OAuthErrorCode));

/** Converts an error that ended a sign-in. Returns undefined for other errors. Text from a server is not repeated. */
export function findSignInError(server: string, error: unknown): AgentError | undefined {
  const agentError = findAgentError(error);
  if (agentError) return agentError;
  if (error instanceof UnauthorizedError)
    return createSignInError(server, "it does not accept the token it issued");
  if (error instanceof OAuthError) {
    const code = knownCodes.has(error.code) ? error.code : "unknown error";
    return createSignInError(server, `its authorization server refused (${code})`);
  }
  if (error instanceof OAuthClientFlowError) return createSignInError(server, describeFlowError(error));
  if (isAuthEscape(error)) return createSignInError(server, `it failed${formatReason(error)}`);
  return undefined;
}

/** The SDK marks errors of a sign-in that leave a transport. */
function isAuthEscape(error: unknown): boolean {
  return error instanceof Error && Reflect.get(error, Symbol.for("mcp.authSeamEscape")) === true;
}

/** For an error that is known to come from a sign-in. */
export function toSignInError(server: string, error: unknown): AgentError {
  return findSignInError(server, error) ?? createSignInError(server, `it failed${formatReason(error)}`);
}

/** For an invalid response, the SDK's message is a page of JSON. */
function formatReason(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if (error.name.endsWith("ZodError")) return ": its authorization server returned an invalid response";
  return ` (${error.message.slice(0, maxReasonLength)})`;
}

function describeFlowError(error: OAuthClientFlowError): string {
  if (error instanceof IssuerMismatchError || error instanceof AuthorizationServerMismatchError)
    return "the response came from a different authorization server. Find out why before you try again";
  if (error instanceof RegistrationRejectedError)
    return "its authorization server does not allow registration. Configure a client id";
  if (error instanceof InsecureTokenEndpointError) return "its authorization server does not use https";
  if (error instanceof InsufficientScopeError) return "the granted scope is not sufficient for this call";
  return "it failed";
}

function findAgentError(error: unknown): AgentError | undefined {
  for (
    let current = error, depth = 0;
    current instanceof Error && depth < 5;
    current = current.cause, depth += 1
  )
    if (current.name === "AgentError") return current as AgentError;
  return undefined;
}
