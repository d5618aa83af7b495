import {
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { AgentError } from "capstan";
import { cutAnswerCode } from "./cut-answers.ts";

const longestMessage = 500;

const protocolFaults: ReadonlySet<string> = new Set([
  SdkErrorCode.InvalidResult,
  SdkErrorCode.UnsupportedResultType,
  SdkErrorCode.ListPaginationExceeded,
]);

const endings: ReadonlySet<string> = new Set([
  SdkErrorCode.ConnectionClosed,
  SdkErrorCode.EraNegotiationFailed,
]);

/** What went wrong with a server, under a name of ours. */
export function serverError(thrown: unknown, server: string): AgentError {
  if (thrown instanceof AgentError) return thrown;
  const about = (problem: string) => `The MCP server "${server}" ${problem}`;
  const message = shortened(thrown instanceof Error ? thrown.message : String(thrown));
  if (thrown instanceof ProtocolError && thrown.code === cutAnswerCode)
    return new AgentError("mcp_disconnected", about(message));
  if (thrown instanceof ProtocolError) return new AgentError("tool_failed", message);
  if (thrown instanceof UnauthorizedError)
    return new AgentError("mcp_disconnected", about("needs you to sign in."), { retryable: false });
  if (isTimeout(thrown)) return new AgentError("mcp_disconnected", about("did not answer in time."));
  // A RangeError: something was nested without end.
  if ((thrown instanceof SdkError && protocolFaults.has(thrown.code)) || thrown instanceof RangeError)
    return new AgentError("mcp_protocol", about(`broke the protocol: ${message}`));
  return new AgentError("mcp_disconnected", about(`cannot be reached: ${message}`), { cause: thrown });
}

/** The end came while a question was open: the process left, or the line broke. */
export function isClosing(thrown: unknown): boolean {
  return thrown instanceof SdkError && endings.has(thrown.code) && !(thrown instanceof SdkHttpError);
}

/** The server has forgotten the session (2025 era): only a new handshake helps. */
export function isForgotten(thrown: unknown): boolean {
  return thrown instanceof SdkHttpError && thrown.status === 404;
}

/** What the SDK says of a wrong answer can be longer than the answer. */
function shortened(message: string): string {
  const line = message.slice(0, longestMessage).replaceAll(/\s+/g, " ").toWellFormed();
  return message.length > longestMessage ? `${line}…` : line;
}

function isTimeout(thrown: unknown): boolean {
  if (thrown instanceof SdkError) return thrown.code === SdkErrorCode.RequestTimeout;
  return thrown instanceof DOMException && thrown.name === "TimeoutError";
}
