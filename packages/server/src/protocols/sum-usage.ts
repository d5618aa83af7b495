import type { Usage } from "capstan";

/** Adds the token counts of two model calls. The sum always has `cachedTokens` and `reasoningTokens`. */
export function sumUsage(left: Usage, right: Usage): Usage {
  return {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    cachedTokens: (left.cachedTokens ?? 0) + (right.cachedTokens ?? 0),
    reasoningTokens: (left.reasoningTokens ?? 0) + (right.reasoningTokens ?? 0),
  };
}
