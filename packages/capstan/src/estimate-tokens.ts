import type { AssistantPart, Entry, Part } from "./history.ts";

const charactersPerToken = 4;
/** Overhead of an entry. */
const tokensPerEntry = 4;
const tokensPerImage = 1500;
const tokensPerFile = 5000;

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
