import type { Io } from "../io.ts";
import { escapeTerminalLine } from "../terminal/escape-terminal.ts";
import { findErrorLocation } from "./find-error-location.ts";

/** One line about an error that nobody waited for; with `CAPSTAN_DEBUG` its stack. */
export function formatUnhandledError(error: unknown, env: Io["env"]): string {
  if (env.CAPSTAN_DEBUG && error instanceof Error && error.stack) return error.stack;
  const message = error instanceof Error ? error.message : String(error);
  const location = findErrorLocation(error);
  const where = location === undefined ? "" : ` (${escapeTerminalLine(location)})`;
  return `Code that nobody waits for has failed: ${escapeTerminalLine(message)}${where}. Look for a timer, or a promise without await, in a tool or the configuration.`;
}
