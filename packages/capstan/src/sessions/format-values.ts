import type { Usage } from "../kernel/model.ts";

/** Formats a time in UTC. */
export function formatTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** Formats a duration in ms, s or min. The difference of two dates is negative when the clock was set back: 0 ms. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = ms / 1000;
  return seconds < 60
    ? `${seconds.toFixed(1)} s`
    : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/** Formats tokens and cost. */
export function formatUsage(usage: Usage, cost: number): string {
  const tokens = `${usage.inputTokens} tokens in, ${usage.outputTokens} out`;
  return `${tokens}${usage.estimated ? " (estimated)" : ""}${cost > 0 ? `, $${cost.toFixed(4)}` : ""}${usage.unpriced ? ", price unknown" : ""}`;
}
