import type { ToolReturn } from "../tool.ts";
import { formatNumber } from "./truncate-text.ts";

/** Bytes returned by a tool, with their media type. `isCut` means that there were more, which were not read. */
export type Binary = { readonly bytes: Uint8Array; readonly mediaType: string; readonly isCut: boolean };

/** Marks our own values: a tool may return an object with the same fields. A lookup never throws, even for a proxy. */
const binaries = new WeakSet<object>();

export function isBinary(value: unknown): value is Binary {
  return binaries.has(value as object);
}

/** Creates a value that `isBinary` recognizes. The default media type is "application/octet-stream". */
export function createBinary({ bytes, mediaType, isCut }: Binary): Binary {
  const binary: Binary = { bytes, mediaType: mediaType || "application/octet-stream", isCut };
  binaries.add(binary);
  return binary;
}

/** Returns the bytes of a buffer or a view without copying them; undefined for any other value. */
export function toBytes(value: unknown): Uint8Array | undefined {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (!ArrayBuffer.isView(value)) return undefined;
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

export function concatBytes(chunks: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

/** Decodes text to a string and JSON to data; other types stay bytes. `mediaType` may be a whole `content-type` header. */
export function decodeTyped({ bytes, mediaType, isCut }: Binary, maxCharacters: number): unknown {
  const type = (mediaType.split(";")[0] ?? "").trim().toLowerCase();
  if (!/^text\/|[/+](?:json|xml)$/.test(type)) return createBinary({ bytes, mediaType: type, isCut });
  const charset = /;\s*charset="?([^";\s]+)/i.exec(mediaType)?.[1];
  // The cut may split a character; with `stream` its first bytes are dropped.
  const text = createDecoder(charset).decode(bytes, { stream: isCut });
  const isJson = /[/+]json$/.test(type) && !isCut;
  return (isJson && parseJsonData(text)) || limitText(maxCharacters, text, isCut);
}

/** Decodes bytes without a media type: text if they are UTF-8 without a NUL, else binary. */
export function decodeUntyped({ bytes, isCut }: Omit<Binary, "mediaType">, maxCharacters: number): unknown {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: isCut });
    if (!text.includes("\0")) return limitText(maxCharacters, text, isCut);
  } catch {
    return createBinary({ bytes, mediaType: "", isCut }); // not UTF-8
  }
  return createBinary({ bytes, mediaType: "", isCut });
}

/** Truncates a text and notes that at its end. `isCut` means that it was already truncated while reading. */
export function limitText(maxCharacters: number, text: string, isCut: boolean): string {
  const head = text.length > maxCharacters ? text.slice(0, maxCharacters).toWellFormed() : text;
  if (!isCut && head.length === text.length) return text;
  return `${head}\n… (only the first ${formatNumber(head.length)} characters were read)`;
}

/** Wraps the value as `data`, so that a server's response is not mistaken for a `ToolReturn` of the tool. */
function parseJsonData(text: string): ToolReturn | undefined {
  try {
    return { data: JSON.parse(text) };
  } catch {
    return undefined; // not JSON: treat it as text
  }
}

function createDecoder(charset: string | undefined): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder(); // unknown charset
  }
}
