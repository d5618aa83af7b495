import { AgentError } from "capstan";

/** The user must sign in, and the reason why that failed. */
export function createSignInError(server: string, problem: string): AgentError {
  const message = `The server "${server}" requires sign-in: ${problem}.`;
  return new AgentError("mcp_disconnected", message, { retryable: false });
}
