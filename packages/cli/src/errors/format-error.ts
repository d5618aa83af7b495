import type { AgentError } from "capstan";
import { type ExitCode, exitCodes } from "../exit-code.ts";
import type { Io } from "../io.ts";

/** Formats an error for the user; with `CAPSTAN_DEBUG` including its stack. */
export function formatError(error: unknown, env: Io["env"]): string {
  if (env.CAPSTAN_DEBUG && error instanceof Error) return error.stack ?? error.message;
  if (isAgentError(error)) return error.message;
  const message = error instanceof Error ? error.message : String(error);
  return `${message}\nThis is an unexpected error. Set CAPSTAN_DEBUG=1 to see the stack, or run \`capstan doctor\` to check your setup.`;
}

const usageErrorCodes: readonly string[] = ["invalid_input", "unknown_agent", "model_not_found"];

/** Maps invalid flags to `usage`, a cancelled prompt to `interrupted`, and everything else to `failure`. */
export function getExitCode(error: unknown): ExitCode {
  if (!isAgentError(error)) return exitCodes.failure;
  if (error.code === "aborted") return exitCodes.interrupted;
  return usageErrorCodes.includes(error.code) ? exitCodes.usage : exitCodes.failure;
}

/** Checks by name: importing the class would load the whole runtime, and a config may use another copy of it. */
export function isAgentError(error: unknown): error is AgentError {
  return error instanceof Error && error.name === "AgentError" && "code" in error;
}
