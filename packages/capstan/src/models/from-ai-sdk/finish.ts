import { AgentError } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import type { StopReason, Usage } from "../../kernel/model.ts";

const reasons: { readonly [reason: string]: StopReason } = {
  stop: "end",
  "tool-calls": "tool_calls",
  length: "length",
  "content-filter": "content_filter",
  other: "other",
};

/**
 * Accepts a string (v2) or `{ unified, raw }` (v3, v4). Returns undefined without a reason, which is how these models
 * report a truncated stream ("unknown", or "other" without a raw reason).
 */
export function readStopReason(reason: unknown): StopReason | undefined {
  const word = isRecord(reason) ? reason.unified : reason;
  if (word === "error") throw new AgentError("model_failed", "The model stopped because of an error.");
  if (isRecord(reason) && word === "other" && reason.raw === undefined) return undefined;
  // The AI SDK has no word for these two.
  if (isRecord(reason) && reason.raw === "pause_turn") return "pause";
  if (isRecord(reason) && reason.raw === "refusal") return "refusal";
  return typeof word === "string" && Object.hasOwn(reasons, word) ? reasons[word] : undefined;
}

/** Accepts plain numbers (v2) or `{ total, … }` (v3, v4). Returns undefined without figures; usage is then estimated. */
export function toUsage(usage: unknown): Usage | undefined {
  if (!isRecord(usage)) return undefined;
  const { inputTokens: input, outputTokens: output } = usage;
  const inputTokens = toTokenCount(isRecord(input) ? input.total : input);
  const outputTokens = toTokenCount(isRecord(output) ? output.total : output);
  const cachedTokens = toTokenCount(isRecord(input) ? input.cacheRead : usage.cachedInputTokens);
  const cacheWriteTokens = (isRecord(input) && toTokenCount(input.cacheWrite)) || 0;
  const reasoningTokens = toTokenCount(isRecord(output) ? output.reasoning : usage.reasoningTokens);
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  return {
    inputTokens,
    outputTokens,
    ...(cachedTokens !== undefined && { cachedTokens }),
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
  };
}

function toTokenCount(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && Number.isFinite(value) ? value : undefined;
}
