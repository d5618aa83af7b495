import { RequestError } from "@agentclientprotocol/sdk";
import { formatError, isAgentError } from "../errors/format-error.ts";
import type { Io } from "../io.ts";
import { escapeTerminal } from "../terminal/escape-terminal.ts";

/** Codes of JSON-RPC and of ACP. Everything else is a failure inside. */
const codes: { readonly [code: string]: number } = {
  invalid_input: -32602,
  session_busy: -32600,
  not_found: -32002,
};

/** An error as an editor shows it: plain words, and our code for programs. */
export function toRequestError(error: unknown, env: Io["env"]): RequestError {
  if (error instanceof RequestError) return error;
  const words = escapeTerminal(formatError(error, env));
  if (!isAgentError(error)) return new RequestError(-32603, words);
  return new RequestError(codes[error.code] ?? -32603, words, { code: error.code });
}
