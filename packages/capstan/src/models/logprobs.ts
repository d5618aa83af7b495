import { isRecord } from "../base/json.ts";
import type { Chunk, TokenLogprob } from "../kernel/model.ts";
import { filterRecords } from "./wire.ts";

/** Reads a list of tokens with their log probabilities, in OpenAI's format. No list, or an empty one, gives no chunk. */
export function readLogprobs(list: unknown): readonly Chunk[] {
  const tokens = filterRecords(list).flatMap((item): TokenLogprob[] => {
    const alternatives = filterRecords(item.top_logprobs).flatMap(readToken);
    return readToken(item).map((token) => ({
      ...token,
      ...(alternatives.length > 0 && { top: alternatives }),
    }));
  });
  return tokens.length > 0 ? [{ type: "logprobs", tokens }] : [];
}

function readToken(item: unknown): { token: string; logprob: number }[] {
  if (!isRecord(item) || typeof item.token !== "string" || typeof item.logprob !== "number") return [];
  return [{ token: item.token, logprob: item.logprob }];
}
