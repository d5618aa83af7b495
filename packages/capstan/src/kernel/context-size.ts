import { type Entry, estimateTokens } from "./history.ts";
import type { Usage } from "./model.ts";

/** The size of the first entries of a history. Part of the state, so that entries are measured once, not every turn. */
export type ContextSize = {
  /** Number of measured entries. */
  entries: number;
  /** Their estimated tokens. */
  estimated: number;
  /** Their tokens with instructions and tools, as reported by the provider where available. */
  tokens: number;
  /** Number of leading entries that cannot be shortened further. */
  shortened: number;
};

export function createContextSize(): ContextSize {
  return { entries: 0, estimated: 0, tokens: 0, shortened: 0 };
}

/** No tokenizer is this much more compact than the estimate: a lower number is a provider's mistake. */
const minShare = 0.25;

type MeasuredHistory = { readonly history: readonly Entry[]; readonly context: ContextSize };

/** Estimates the tokens of a request with this history. Measures only entries that were added since. */
export function estimateRequestTokens(
  { history, context }: MeasuredHistory,
  pending: readonly Entry[] = [],
): number {
  return context.tokens + estimateTokens(history.slice(context.entries)) + estimateTokens(pending);
}

/** Measures the entries up to `until`. */
export function measureHistory({ history, context }: MeasuredHistory, until: number): void {
  if (until <= context.entries) return;
  const added = estimateTokens(history.slice(context.entries, until));
  context.estimated += added;
  context.tokens += added;
  context.entries = until;
}

/** Replaces the estimate with the provider's count for a request with the whole history. */
export function correctEstimate({ history, context }: MeasuredHistory, usage: Usage): void {
  if (usage.estimated) return;
  context.tokens = Math.max(usage.inputTokens, Math.ceil(context.estimated * minShare));
  context.entries = history.length;
}
