import { isRecord } from "../../json.ts";
import type { Usage } from "../../model.ts";

/** The figures of a chat completion, wherever this server puts them; nothing when it gives none. */
export function chatUsage(
  chunk: Record<string, unknown>,
  choice: Record<string, unknown> | undefined,
): Usage | undefined {
  const groq = isRecord(chunk.x_groq) ? chunk.x_groq.usage : undefined;
  const told = [chunk.usage, groq, choice?.usage].find(isRecord);
  if (!told) return undefined;
  const { prompt_tokens: input, completion_tokens: said = 0, total_tokens: total } = told;
  if (typeof input !== "number" || typeof said !== "number") return undefined;
  const cached =
    figure(told.prompt_tokens_details, "cached_tokens") ??
    figure(told, "prompt_cache_hit_tokens") ??
    figure(told, "cached_tokens");
  const reasoning =
    figure(told.completion_tokens_details, "reasoning_tokens") ?? figure(told, "reasoning_tokens");
  const cost = figure(told, "cost");
  // xAI counts reasoning beside the completion, all others as part of it.
  const isBeside = reasoning !== undefined && reasoning > 0 && total === input + said + reasoning;
  return {
    inputTokens: input,
    outputTokens: isBeside ? said + reasoning : said,
    ...(cached !== undefined && { cachedTokens: cached }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
    ...(cost !== undefined && { cost }),
  };
}

function figure(owner: unknown, name: string): number | undefined {
  const value = isRecord(owner) ? owner[name] : undefined;
  return typeof value === "number" ? value : undefined;
}
