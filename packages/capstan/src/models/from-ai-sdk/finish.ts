import { AgentError } from "../../errors.ts";
import { isRecord } from "../../json.ts";
import type { Finish, Usage } from "../../model.ts";

const reasons: { readonly [reason: string]: Finish } = {
  stop: "stop",
  "tool-calls": "tool_calls",
  length: "length",
  "content-filter": "content_filter",
  other: "other",
};

/**
 * v2 says it in a word, v3 and v4 as `{ unified, raw }`. Nothing when the provider gave no reason, which is what these
 * models say of a stream that was cut off ("unknown", or "other" without a raw reason).
 */
export function finishOf(reason: unknown): Finish | undefined {
  const word = isRecord(reason) ? reason.unified : reason;
  if (word === "error") throw new AgentError("model_failed", "The model stopped because of an error.");
  if (isRecord(reason) && word === "other" && reason.raw === undefined) return undefined;
  return typeof word === "string" && Object.hasOwn(reasons, word) ? reasons[word] : undefined;
}

/** v2 counts in plain numbers, v3 and v4 in `{ total, … }`. Nothing when nothing was counted: it is estimated then. */
export function usageOf(usage: unknown): Usage | undefined {
  if (!isRecord(usage)) return undefined;
  const { inputTokens: input, outputTokens: output } = usage;
  const inputTokens = count(isRecord(input) ? input.total : input);
  const outputTokens = count(isRecord(output) ? output.total : output);
  const cachedTokens = count(isRecord(input) ? input.cacheRead : usage.cachedInputTokens);
  const reasoningTokens = count(isRecord(output) ? output.reasoning : usage.reasoningTokens);
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  return {
    inputTokens,
    outputTokens,
    ...(cachedTokens !== undefined && { cachedTokens }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
  };
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && Number.isFinite(value) ? value : undefined;
}
