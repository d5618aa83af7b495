import type { Io } from "../io.ts";
import { harmlessLine } from "../terminal/escape-terminal.ts";
import { errorPlace } from "./find-error-location.ts";

/** One line about an error that nobody waited for; with `CAPSTAN_DEBUG` its stack. */
export function strayErrorWords(error: unknown, env: Io["env"]): string {
  if (env.CAPSTAN_DEBUG && error instanceof Error && error.stack) return error.stack;
  const message = error instanceof Error ? error.message : String(error);
  const place = errorPlace(error);
  const where = place === undefined ? "" : ` (${harmlessLine(place)})`;
  return `Code that nobody waits for has failed: ${harmlessLine(message)}${where}. Look for a timer, or a promise without await, in a tool or the configuration.`;
}
