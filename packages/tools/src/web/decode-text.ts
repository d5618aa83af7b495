import { createGuardRefusal } from "./guard-errors.ts";

/** Bytes that never occur in text ("binary data bytes" of the WHATWG). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const binaryCharacter = /[\u0000-\u0008\u000b\u000e-\u001a\u001c-\u001f]/;
const sniffedCharacters = 1445;

export type TextOrigin = { readonly charset?: string; readonly isHtml: boolean };

/**
 * Decodes text in its declared charset, or else as UTF-8. Throws for unsupported charsets such as UTF-7, and for binary
 * data declared as text. The type is never guessed from the bytes.
 */
export function decodeText(bytes: Uint8Array, { charset, isHtml }: TextOrigin): string {
  const decoder = createDecoder(
    detectByteOrderMark(bytes) ?? charset ?? (isHtml ? findMetaCharset(bytes) : undefined),
  );
  const text = decoder ? decoder.decode(bytes) : decodeWithoutCharset(bytes);
  if (binaryCharacter.test(text.slice(0, sniffedCharacters)))
    throw createGuardRefusal("media_type", "The response is declared as text but contains binary data.");
  return text;
}

/** A byte order mark overrides every header. */
function detectByteOrderMark(bytes: Uint8Array): string | undefined {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return first === 0xff && second === 0xfe ? "utf-16le" : undefined;
}

function createDecoder(charset: string | undefined): InstanceType<typeof TextDecoder> | undefined {
  if (charset === undefined) return undefined;
  try {
    return new TextDecoder(charset);
  } catch {
    const displayedCharset = /^[\w.:-]{1,40}$/.test(charset) ? charset : "an unknown charset";
    throw createGuardRefusal(
      "charset",
      `The response uses ${displayedCharset}, which is not supported. Ask for UTF-8.`,
    );
  }
}

/** Reads the charset from a `<meta>` tag in the first bytes. */
function findMetaCharset(bytes: Uint8Array): string | undefined {
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, 1024));
  const charset = /<meta\s[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(head)?.[1]?.toLowerCase();
  // A tag that is readable as ASCII cannot be UTF-16.
  return charset?.startsWith("utf-16") ? "utf-8" : charset;
}

function decodeWithoutCharset(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}
