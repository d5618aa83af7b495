export type TextEncodingName = "utf-8" | "utf-16le" | "utf-16be" | "windows-1252";

/** How much of a text is enough to guess its encoding. */
export const encodingSampleSize = 65_536;

/**
 * Guesses the encoding of a text from its beginning: by its byte order mark, else UTF-8 if it is valid, else Windows-1252,
 * which contains Latin-1.
 */
export function detectEncoding(text: Uint8Array): TextEncodingName {
  const sample = text.subarray(0, encodingSampleSize);
  if (sample[0] === 0xff && sample[1] === 0xfe) return "utf-16le";
  if (sample[0] === 0xfe && sample[1] === 0xff) return "utf-16be";
  try {
    const isCut = sample.length === encodingSampleSize; // perhaps in the middle of a character
    new TextDecoder("utf-8", { fatal: true }).decode(sample, { stream: isCut });
    return "utf-8";
  } catch {
    return "windows-1252";
  }
}
