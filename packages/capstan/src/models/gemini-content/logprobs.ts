import { isRecord } from "../../base/json.ts";
import type { Chunk, TokenLogprob } from "../../kernel/model.ts";
import { filterRecords, toList } from "../wire.ts";

/** Reads `logprobsResult`: the chosen token of each step, with the most likely ones of the same step. */
export function readGeminiLogprobs(result: unknown): readonly Chunk[] {
  if (!isRecord(result)) return [];
  const steps = toList(result.topCandidates);
  const tokens = filterRecords(result.chosenCandidates).flatMap((chosen, index): TokenLogprob[] => {
    const step = steps[index];
    const top = isRecord(step) ? filterRecords(step.candidates).flatMap(toTokens) : [];
    return toTokens(chosen).map((token) => ({ ...token, ...(top.length > 0 && { top }) }));
  });
  return tokens.length > 0 ? [{ type: "logprobs", tokens }] : [];
}

function toTokens({ token, logProbability }: Record<string, unknown>): TokenLogprob[] {
  return typeof token === "string" && typeof logProbability === "number"
    ? [{ token, logprob: logProbability }]
    : [];
}
