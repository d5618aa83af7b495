import { RequestError } from "@agentclientprotocol/sdk";
import { formatError, isAgentError } from "../errors/format-error.ts";
import type { Io } from "../io.ts";
import { escapeTerminal } from "../terminal/escape-terminal.ts";

/** JSON-RPC and ACP codes. Everything else is an internal error. */
const codes: { readonly [code: string]: number } = {
  invalid_input: -32602,
  session_busy: -32600,
  not_found: -32002,
};

/** Converts an error for the editor: a plain message, and our code in the data. */
export function toRequestError(error: unknown, env: Io["env"]): RequestError {
  if (error instanceof RequestError) return error;
  const words = escapeTerminal(formatError(error, env));
  if (!isAgentError(error)) return new RequestError(-32603, words);
  return new RequestError(codes[error.code] ?? -32603, words, { code: error.code });
}
