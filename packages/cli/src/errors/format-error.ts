import type { AgentError } from "capstan";
import { type ExitCode, exitCodes } from "../exit-code.ts";
import type { Io } from "../io.ts";

/** What went wrong, for a person; where in the code, only when `CAPSTAN_DEBUG` is set. */
export function formatError(error: unknown, env: Io["env"]): string {
  if (env.CAPSTAN_DEBUG && error instanceof Error) return error.stack ?? error.message;
  if (isAgentError(error)) return error.message;
  const message = error instanceof Error ? error.message : String(error);
  return `${message}\nThis was not expected. CAPSTAN_DEBUG=1 shows where it happened; \`capstan doctor\` looks for causes.`;
}

const usageErrorCodes: readonly string[] = ["invalid_input", "unknown_agent", "model_not_found"];

/** Flags that make no sense are misuse, a question that was left is an interruption, everything else is a failure. */
export function getExitCode(error: unknown): ExitCode {
  if (!isAgentError(error)) return exitCodes.failure;
  if (error.code === "aborted") return exitCodes.interrupted;
  return usageErrorCodes.includes(error.code) ? exitCodes.usage : exitCodes.failure;
}

/** Not by its class: that would load all of the runtime, and a configuration may have one from another place. */
export function isAgentError(error: unknown): error is AgentError {
  return error instanceof Error && error.name === "AgentError" && "code" in error;
}
