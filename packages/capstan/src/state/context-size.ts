import type { AssistantPart, Entry, Part } from "../history.ts";
import type { Usage } from "../model.ts";

/** How large the front of a history is. The fold keeps it, so that no entry is measured again in every turn. */
export type ContextSize = {
  /** How many entries the figures are about. */
  entries: number;
  /** Their tokens by estimate. */
  estimated: number;
  /** Their tokens together with instructions and tools, as far as a provider has told. */
  tokens: number;
  /** How many entries at the front are as short as they get. */
  shortened: number;
};

export function createContextSize(): ContextSize {
  return { entries: 0, estimated: 0, tokens: 0, shortened: 0 };
}

const charactersPerToken = 4;
/** What an entry costs beside its words. */
const tokensPerEntry = 4;
const tokensPerImage = 1500;
const tokensPerFile = 5000;
/** No tokenizer packs text so much better than the estimate: a lower figure is a provider's mistake. */
const minShare = 0.25;

/** About how many tokens a text has: four letters of a Latin script are one, two of most others, one of East Asia's. */
export function estimateTextTokens(text: string): number {
  let quarters = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    quarters += code < 0x250 ? 1 : code < 0x1100 ? 2 : charactersPerToken;
  }
  return Math.ceil(quarters / charactersPerToken);
}

/** About how many tokens an entry has when it is sent. */
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

function estimatePartTokens(part: AssistantPart): number {
  if (part.type === "opaque") return estimateTextTokens(JSON.stringify(part.data));
  const opaque = part.opaque === undefined ? 0 : estimateTextTokens(JSON.stringify(part.opaque));
  if (part.type !== "call") return opaque + estimateTextTokens(part.text);
  return opaque + estimateTextTokens(part.name) + estimateTextTokens(part.raw ?? JSON.stringify(part.input));
}

type MeasuredHistory = { readonly history: readonly Entry[]; readonly context: ContextSize };

/** About how many tokens a request with this history will have; what is measured is only what is new in it. */
export function estimateRequestTokens(
  { history, context }: MeasuredHistory,
  more: readonly Entry[] = [],
): number {
  return context.tokens + estimateTokens(history.slice(context.entries)) + estimateTokens(more);
}

/** Takes the entries up to `until` into the figures. */
export function measureHistory({ history, context }: MeasuredHistory, until: number): void {
  if (until <= context.entries) return;
  const added = estimateTokens(history.slice(context.entries, until));
  context.estimated += added;
  context.tokens += added;
  context.entries = until;
}

/** Takes over what the provider counted in a request that had the whole history. */
export function correctEstimate({ history, context }: MeasuredHistory, usage: Usage): void {
  if (usage.estimated) return;
  context.tokens = Math.max(usage.inputTokens, Math.ceil(context.estimated * minShare));
  context.entries = history.length;
}
