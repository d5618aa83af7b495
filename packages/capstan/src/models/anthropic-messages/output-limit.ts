import { applicationTable, outputLimits } from "../model-table.ts";
import type { WireSettings } from "../wire.ts";

/** Accepted by every model, also behind compatible servers. */
const minOutputTokens = 8192;
/** Models before 4.5 reject a request whose input and `max_tokens` together exceed their window. */
const contextWindow = 200_000;
/** A low estimate, so that the input is rather taken for too long. */
const charactersPerToken = 3;

/** The model's own maximum of output tokens; undefined for a model that is not known. */
export function findMaxOutputTokens(model: string): number | undefined {
  const own = applicationTable.current?.models[`anthropic/${model}`]?.maxOutputTokens;
  return own ?? outputLimits.find(({ pattern }) => pattern.test(model))?.maxOutputTokens;
}

/** Without a stream, a longer answer would let connections time out. */
const maxTokensWithoutStream = 20_000;

/**
 * Returns the default for `max_tokens`, which the API requires: the model's maximum, reduced if the input leaves less of
 * the context window.
 */
export function getDefaultMaxTokens(
  { model, stream }: Pick<WireSettings, "model" | "stream">,
  inputCharacters: number,
): number {
  const maximum = findMaxOutputTokens(model);
  if (maximum === undefined) return minOutputTokens;
  const room = contextWindow - Math.ceil(inputCharacters / charactersPerToken);
  const limit = Math.min(maximum, Math.max(minOutputTokens, room));
  return stream ? limit : Math.min(limit, maxTokensWithoutStream);
}

/** Raises a limit after a truncated answer, up to the model's own maximum. */
export function raiseMaxTokens(model: string, maxTokens: number, wanted: number): number {
  return Math.min(Math.max(maxTokens, wanted), findMaxOutputTokens(model) ?? wanted);
}
