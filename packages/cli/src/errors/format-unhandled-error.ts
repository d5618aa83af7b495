import type { Io } from "../io.ts";
import { escapeTerminalLine } from "../terminal/escape-terminal.ts";
import { findErrorLocation } from "./find-error-location.ts";

/** Formats an unhandled error in one line; with `CAPSTAN_DEBUG` returns its stack. */
export function formatUnhandledError(error: unknown, env: Io["env"]): string {
  if (env.CAPSTAN_DEBUG && error instanceof Error && error.stack) return error.stack;
  const message = error instanceof Error ? error.message : String(error);
  const location = findErrorLocation(error);
  const where = location === undefined ? "" : ` (${escapeTerminalLine(location)})`;
  return `Unhandled error in a tool or config: ${escapeTerminalLine(message)}${where}. Check for a timer that throws or a promise that is not awaited.`;
}
