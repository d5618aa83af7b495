import type { Result, Usage } from "capstan";
import { escapeTerminalLine } from "../terminal/escape-terminal.ts";

/** Formats a duration, such as "1.2 s". */
export function formatDuration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/** Formats the time of day, such as "14:03:20". */
export function formatTime(at: number): string {
  return new Date(at).toLocaleTimeString("en-GB");
}

/** Formats a count in few characters: 950, 1.2k, 3.4M. */
export function formatCount(value: number): string {
  if (value < 1000) return String(value);
  const [divisor, unit] = value < 1_000_000 ? [1000, "k"] : [1_000_000, "M"];
  const shown = value / divisor;
  return `${shown < 100 ? shown.toFixed(1).replace(/\.0$/, "") : Math.round(shown)}${unit}`;
}

/** Formats context usage: a bar when there is a budget, otherwise the tokens. */
export function formatContext({ tokens, budget }: Result["context"]): string {
  if (budget === undefined) return `context ${formatCount(tokens)}`;
  const share = Math.min(1, tokens / budget);
  const full = Math.round(share * 10);
  return `context ${"▰".repeat(full)}${"▱".repeat(10 - full)} ${Math.round(share * 100)}%`;
}

/** Formats tokens, cost and duration of a run in one line. */
export function formatUsageLine(usage: Usage, ms: number, context: Result["context"]): string {
  const { inputTokens, outputTokens, cachedTokens = 0, cacheWriteTokens = 0, estimated } = usage;
  const cache = [
    ...(cachedTokens > 0 ? [`${formatCount(cachedTokens)} cached`] : []),
    ...(cacheWriteTokens > 0 ? [`${formatCount(cacheWriteTokens)} written to the cache`] : []),
  ];
  const cached = cache.length > 0 ? ` (${cache.join(", ")})` : "";
  const about = estimated ? "~" : "";
  const parts = [
    `${about}${formatCount(inputTokens)} in${cached}`,
    `${about}${formatCount(outputTokens)} out`,
    ...formatDollars(usage),
    formatDuration(ms),
    formatContext(context),
  ];
  return parts.join(" · ");
}

/** Formats the cost. A model without a known price has an unknown cost, not none. */
function formatDollars({ cost = 0, unpriced }: Usage): readonly string[] {
  if (cost === 0) return unpriced ? ["cost unknown"] : [];
  const known = `$${cost < 0.01 ? cost.toFixed(4) : cost.toFixed(2)}`;
  return [unpriced ? `${known} and more (a price is unknown)` : known];
}

/** Returns a prefix of the session id that is enough to name it. */
export function shortenSessionId(id: string): string {
  return escapeTerminalLine(id.replace(/^ses_/, "").slice(0, 8));
}
