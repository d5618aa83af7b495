import { isRecord } from "../../base/json.ts";
import type { Chunk, Usage } from "../../kernel/model.ts";

export function toUsageChunks(usage: { readonly [field: string]: unknown }): readonly Chunk[] {
  const inputTokens = toCount(usage.input_tokens);
  const outputTokens = toCount(usage.output_tokens);
  if (inputTokens === undefined || outputTokens === undefined) return [];
  const input = isRecord(usage.input_tokens_details) ? usage.input_tokens_details : {};
  const cachedTokens = toCount(input.cached_tokens);
  const cacheWriteTokens = toCount(input.cache_write_tokens) ?? 0;
  const writes = isRecord(input.cache_write_tokens_details) ? input.cache_write_tokens_details : {};
  const longCacheWriteTokens = toCount(writes.ttl_12h_tokens) ?? 0;
  const reasoningTokens = isRecord(usage.output_tokens_details)
    ? toCount(usage.output_tokens_details.reasoning_tokens)
    : undefined;
  const tokenUsage: Usage = {
    inputTokens,
    outputTokens,
    ...(cachedTokens !== undefined && { cachedTokens }),
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
    ...(longCacheWriteTokens > 0 && { longCacheWriteTokens }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
    ...(toCount(usage.cost) !== undefined && { cost: usage.cost as number }),
  };
  return [{ type: "usage", usage: tokenUsage }];
}

function toCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}
