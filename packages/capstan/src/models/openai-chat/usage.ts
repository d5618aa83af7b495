import { isRecord } from "../../base/json.ts";
import type { Usage } from "../../kernel/model.ts";

/** Finds the usage of a chat completion, wherever the server puts it. */
export function findChatUsage(
  chunk: Record<string, unknown>,
  choice: Record<string, unknown> | undefined,
): Usage | undefined {
  const groq = isRecord(chunk.x_groq) ? chunk.x_groq.usage : undefined;
  const usage = isRecord(chunk.usage) ? chunk.usage : isRecord(groq) ? groq : choice?.usage;
  if (!isRecord(usage)) return undefined;
  const { prompt_tokens: input, completion_tokens: output = 0, total_tokens: total } = usage;
  if (typeof input !== "number" || typeof output !== "number") return undefined;
  const cached =
    getFigure(usage.prompt_tokens_details, "cached_tokens") ??
    getFigure(usage, "prompt_cache_hit_tokens") ??
    getFigure(usage, "cached_tokens");
  // OpenAI and OpenRouter; then LiteLLM, which adds Anthropic's name.
  const written =
    getFigure(usage.prompt_tokens_details, "cache_write_tokens") ??
    getFigure(usage, "cache_creation_input_tokens") ??
    0;
  const reasoning =
    getFigure(usage.completion_tokens_details, "reasoning_tokens") ?? getFigure(usage, "reasoning_tokens");
  const cost = getFigure(usage, "cost");
  // xAI counts reasoning separately from the completion; all others include it.
  const isSeparate = reasoning !== undefined && reasoning > 0 && total === input + output + reasoning;
  return {
    inputTokens: input,
    outputTokens: isSeparate ? output + reasoning : output,
    ...(cached !== undefined && { cachedTokens: cached }),
    ...(written > 0 && { cacheWriteTokens: written }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
    ...(cost !== undefined && { cost }),
  };
}

function getFigure(owner: unknown, name: string): number | undefined {
  const value = isRecord(owner) ? owner[name] : undefined;
  return typeof value === "number" ? value : undefined;
}
