import { refusal } from "./refusal.ts";

/** Bytes that no text has (the WHATWG's "binary data bytes"). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const binary = /[\u0000-\u0008\u000b\u000e-\u001a\u001c-\u001f]/;
const looksAt = 1445;

/** Where the charset of a text is told. */
export type TextOrigin = { readonly charset?: string; readonly isHtml: boolean };

/**
 * The text of bytes in the charset that they came with, else as UTF-8. Throws for a charset that nobody should speak,
 * such as UTF-7, and for what says it is text and is not. What the bytes look like never makes them more than that.
 */
export function decodeText(bytes: Uint8Array, { charset, isHtml }: TextOrigin): string {
  const decoder = decoderFor(markOf(bytes) ?? charset ?? (isHtml ? charsetInside(bytes) : undefined));
  const text = decoder ? decoder.decode(bytes) : decodedByGuess(bytes);
  if (binary.test(text.slice(0, looksAt)))
    throw refusal("media_type", "The answer says that it is a text, and is binary. It is not read.");
  return text;
}

/** A mark of the byte order wins over every header. */
function markOf(bytes: Uint8Array): string | undefined {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return first === 0xff && second === 0xfe ? "utf-16le" : undefined;
}

function decoderFor(charset: string | undefined): InstanceType<typeof TextDecoder> | undefined {
  if (charset === undefined) return undefined;
  try {
    return new TextDecoder(charset);
  } catch {
    const named = /^[\w.:-]{1,40}$/.test(charset) ? charset : "an unknown charset";
    throw refusal("charset", `The answer is written in ${named}, which is not read. Ask for UTF-8.`);
  }
}

/** HTML may tell in its first bytes. */
function charsetInside(bytes: Uint8Array): string | undefined {
  const beginning = new TextDecoder("latin1").decode(bytes.subarray(0, 1024));
  const charset = /<meta\s[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(beginning)?.[1]?.toLowerCase();
  // Who could say it in ASCII does not write in UTF-16.
  return charset?.startsWith("utf-16") ? "utf-8" : charset;
}

function decodedByGuess(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}
