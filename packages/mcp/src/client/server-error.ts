import {
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { AgentError } from "capstan";
import { streamEndedCode } from "./transport/end-cut-requests.ts";

const maxMessageLength = 500;

const protocolErrorCodes: ReadonlySet<string> = new Set([
  SdkErrorCode.InvalidResult,
  SdkErrorCode.UnsupportedResultType,
  SdkErrorCode.ListPaginationExceeded,
]);

const closeCodes: ReadonlySet<string> = new Set([
  SdkErrorCode.ConnectionClosed,
  SdkErrorCode.EraNegotiationFailed,
]);

/** Converts an error of the SDK or a transport to an `AgentError`. */
export function toServerError(thrown: unknown, server: string): AgentError {
  if (thrown instanceof AgentError) return thrown;
  const describe = (problem: string) => `The MCP server "${server}" ${problem}`;
  const message = truncateLine(thrown instanceof Error ? thrown.message : String(thrown));
  if (thrown instanceof ProtocolError && thrown.code === streamEndedCode)
    return new AgentError("mcp_disconnected", describe(message));
  if (thrown instanceof ProtocolError) return new AgentError("tool_failed", message);
  if (thrown instanceof UnauthorizedError)
    return new AgentError("mcp_disconnected", describe("needs you to sign in."), { retryable: false });
  if (isTimeoutError(thrown)) return new AgentError("mcp_disconnected", describe("did not respond in time."));
  // A RangeError means endless nesting.
  if ((thrown instanceof SdkError && protocolErrorCodes.has(thrown.code)) || thrown instanceof RangeError)
    return new AgentError("mcp_protocol", describe(`violated the protocol: ${message}`));
  return new AgentError("mcp_disconnected", describe(`cannot be reached: ${message}`), { cause: thrown });
}

/** The connection closed while a request was pending: the process exited or the network failed. */
export function isConnectionClosed(thrown: unknown): boolean {
  return thrown instanceof SdkError && closeCodes.has(thrown.code) && !(thrown instanceof SdkHttpError);
}

/** The server has dropped the session (2025 revisions): only a new handshake helps. */
export function isSessionLost(thrown: unknown): boolean {
  return thrown instanceof SdkHttpError && thrown.status === 404;
}

/** The SDK's message about an invalid response can be longer than the response. */
function truncateLine(message: string): string {
  const line = message.slice(0, maxMessageLength).replaceAll(/\s+/g, " ").toWellFormed();
  return message.length > maxMessageLength ? `${line}…` : line;
}

function isTimeoutError(thrown: unknown): boolean {
  if (thrown instanceof SdkError) return thrown.code === SdkErrorCode.RequestTimeout;
  return thrown instanceof DOMException && thrown.name === "TimeoutError";
}
