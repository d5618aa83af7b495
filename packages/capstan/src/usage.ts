import type { Usage } from "./model.ts";

export const noUsage: Usage = { inputTokens: 0, outputTokens: 0 };

type Mutable<Fields> = { -readonly [Field in keyof Fields]: Fields[Field] };
const optionalCounts = [
  ...(["cachedTokens", "cacheWriteTokens", "longCacheWriteTokens", "reasoningTokens"] as const),
  ...(["webSearches", "cost"] as const),
];
const flags = ["unpriced", "estimated"] as const;

export function addUsage(first: Usage, ...others: readonly (Usage | undefined)[]): Usage {
  return others.reduce<Usage>((sum, usage) => (usage ? addTwo(sum, usage) : sum), first);
}

function addTwo(left: Usage, right: Usage): Usage {
  const sum: Mutable<Usage> = {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
  };
  for (const field of optionalCounts) {
    if (left[field] !== undefined || right[field] !== undefined)
      sum[field] = (left[field] ?? 0) + (right[field] ?? 0);
  }
  for (const flag of flags) if (left[flag] || right[flag]) sum[flag] = true;
  return sum;
}
