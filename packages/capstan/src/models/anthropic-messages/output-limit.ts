import type { WireSettings } from "../wire.ts";

/** Accepted by every model, also behind compatible servers. */
const minOutputTokens = 8192;
/** Models before 4.5 reject a request whose input and `max_tokens` together exceed their window. */
const contextWindow = 200_000;
/** A low estimate, so that the input is rather taken for too long. */
const charactersPerToken = 3;

/** The model's own maximum of output tokens; undefined for a model that is not known. */
function findMaxOutputTokens(model: string): number | undefined {
  if (/claude-(?:instant|2|3-(?:opus|sonnet|haiku))/.test(model)) return 4096;
  const legacy = /claude-3-([57])-/.exec(model);
  if (legacy) return legacy[1] === "7" ? 64_000 : 8192;
  const current = /claude-([a-z]+)-(\d+)(?:[-.](\d{1,2})(?!\d))?/.exec(model);
  if (!current) return undefined;
  const [, family, major, minor = "0"] = current;
  const version = Number(major) + Number(minor) / 10;
  if (family === "opus" && version < 4.5) return 32_000;
  return family === "haiku" || version < 4.6 ? 64_000 : 128_000;
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
