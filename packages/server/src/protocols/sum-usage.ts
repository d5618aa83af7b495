import type { Event, Usage } from "capstan";

/** Adds the token counts of two model calls. The sum always has the optional counts. */
export function sumUsage(left: Usage, right: Usage): Usage {
  return {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    cachedTokens: (left.cachedTokens ?? 0) + (right.cachedTokens ?? 0),
    cacheWriteTokens: (left.cacheWriteTokens ?? 0) + (right.cacheWriteTokens ?? 0),
    reasoningTokens: (left.reasoningTokens ?? 0) + (right.reasoningTokens ?? 0),
  };
}

/** Returns the usage of the model call that an event ends. Events that repeat usage, such as `done`, have none. */
export function findCallUsage(event: Event): Usage | undefined {
  return "usage" in event && event.type !== "done" && event.type !== "turn_end" ? event.usage : undefined;
}
