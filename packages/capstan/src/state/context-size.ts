import type { AssistantPart, Entry, Part } from "../history.ts";
import type { Usage } from "../model.ts";

/** The size of the first entries of a history. Part of the state, so that entries are measured once, not every turn. */
export type ContextSize = {
  /** Number of measured entries. */
  entries: number;
  /** Their estimated tokens. */
  estimated: number;
  /** Their tokens with instructions and tools, as reported by the provider where available. */
  tokens: number;
  /** Number of leading entries that cannot be shortened further. */
  shortened: number;
};

export function createContextSize(): ContextSize {
  return { entries: 0, estimated: 0, tokens: 0, shortened: 0 };
}

const charactersPerToken = 4;
/** Overhead of an entry. */
const tokensPerEntry = 4;
const tokensPerImage = 1500;
const tokensPerFile = 5000;
/** No tokenizer is this much more compact than the estimate: a lower number is a provider's mistake. */
const minShare = 0.25;

/** Estimates the tokens of a text: one per 4 Latin characters, 2 characters of most other scripts, 1 East Asian one. */
export function estimateTextTokens(text: string): number {
  let quarters = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    quarters += code < 0x250 ? 1 : code < 0x1100 ? 2 : charactersPerToken;
  }
  return Math.ceil(quarters / charactersPerToken);
}

/** Estimates the tokens of an entry in a request. */
export function estimateEntryTokens(entry: Entry): number {
  switch (entry.type) {
    case "user":
    case "result":
      return tokensPerEntry + estimateContentTokens(entry.content);
    case "summary":
      return tokensPerEntry + estimateTextTokens(entry.text);
    case "assistant":
      return entry.parts.reduce((sum, part) => sum + estimatePartTokens(part), tokensPerEntry);
  }
}

export function estimateTokens(entries: readonly Entry[]): number {
  return entries.reduce((sum, entry) => sum + estimateEntryTokens(entry), 0);
}

function estimateContentTokens(content: string | readonly Part[]): number {
  if (typeof content === "string") return estimateTextTokens(content);
  const sizes = content.map((part) => {
    if (part.type === "text") return estimateTextTokens(part.text);
    return part.type === "image" ? tokensPerImage : tokensPerFile;
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Only media with the provider's own data are sent back. */
function estimateMediaTokens(mediaType: string): number {
  return mediaType.startsWith("image/") ? tokensPerImage : tokensPerFile;
}

function estimatePartTokens(part: AssistantPart): number {
  if (part.type === "opaque") return estimateTextTokens(JSON.stringify(part.data));
  const opaque = part.opaque === undefined ? 0 : estimateTextTokens(JSON.stringify(part.opaque));
  if (part.type === "media")
    return part.opaque === undefined ? tokensPerEntry : opaque + estimateMediaTokens(part.mediaType);
  if (part.type !== "call") return opaque + estimateTextTokens(part.text);
  return opaque + estimateTextTokens(part.name) + estimateTextTokens(part.raw ?? JSON.stringify(part.input));
}

type MeasuredHistory = { readonly history: readonly Entry[]; readonly context: ContextSize };

/** Estimates the tokens of a request with this history. Measures only entries that were added since. */
export function estimateRequestTokens(
  { history, context }: MeasuredHistory,
  pending: readonly Entry[] = [],
): number {
  return context.tokens + estimateTokens(history.slice(context.entries)) + estimateTokens(pending);
}

/** Measures the entries up to `until`. */
export function measureHistory({ history, context }: MeasuredHistory, until: number): void {
  if (until <= context.entries) return;
  const added = estimateTokens(history.slice(context.entries, until));
  context.estimated += added;
  context.tokens += added;
  context.entries = until;
}

/** Replaces the estimate with the provider's count for a request with the whole history. */
export function correctEstimate({ history, context }: MeasuredHistory, usage: Usage): void {
  if (usage.estimated) return;
  context.tokens = Math.max(usage.inputTokens, Math.ceil(context.estimated * minShare));
  context.entries = history.length;
}
