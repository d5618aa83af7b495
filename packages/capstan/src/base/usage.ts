export type Usage = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The part of `inputTokens` that the provider read from its cache. */
  readonly cachedTokens?: number;
  /** The part of `inputTokens` that the provider wrote to its cache. */
  readonly cacheWriteTokens?: number;
  /** The part of `cacheWriteTokens` that the provider keeps for an hour or longer, at a higher price. */
  readonly longCacheWriteTokens?: number;
  /** The part of `outputTokens` spent on reasoning. */
  readonly reasoningTokens?: number;
  /** Searches by hosted tools that the provider bills in addition to the tokens. */
  readonly webSearches?: number;
  /** In US dollars, if known. */
  readonly cost?: number;
  /** True if the price of a call is not known: `cost` does not include it. */
  readonly unpriced?: boolean;
  /** True if the provider reported no usable numbers and these are estimated. */
  readonly estimated?: boolean;
};

/** Models on the user's own machines, by the provider in their id: they have no price, which is not an unknown price. */
const freeModels =
  /^(?:ollama|lmstudio|llama-?cpp|vllm|local|offline|web-llm|localhost|127\.|10\.|192\.168\.|\[?::1)|^[^/]*\.(?:local|localhost|internal)(?:\/|$)/;

export function isFreeModel(modelId: string): boolean {
  return freeModels.test(modelId);
}

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
