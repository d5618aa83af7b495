import type { Usage } from "../model.ts";

/** A time that reads the same everywhere. */
export function formatTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** A length of time, as short as it can be said. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  return seconds < 60
    ? `${seconds.toFixed(1)} s`
    : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/** What something took, in tokens and dollars. */
export function formatUsage(usage: Usage, cost: number): string {
  const tokens = `${usage.inputTokens} tokens in, ${usage.outputTokens} out`;
  return `${tokens}${usage.estimated ? " (estimated)" : ""}${cost > 0 ? `, $${cost.toFixed(4)}` : ""}`;
}

/** A number of things. */
export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
