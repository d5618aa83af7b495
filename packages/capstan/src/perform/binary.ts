import type { ToolReturn } from "../tool.ts";
import { formatNumber } from "./truncate-text.ts";

/** Bytes that a tool gave, with their type. `isCut`: there were more, which were not read. */
export type Binary = { readonly bytes: Uint8Array; readonly mediaType: string; readonly isCut: boolean };

/** A value of the tool's own with the same fields is not meant; and to ask a set never throws, whatever is asked about. */
const binaries = new WeakSet<object>();

export function isBinary(value: unknown): value is Binary {
  return binaries.has(value as object);
}

/** Marks the bytes as what they are; without a type they are "application/octet-stream". */
export function createBinary({ bytes, mediaType, isCut }: Binary): Binary {
  const made: Binary = { bytes, mediaType: mediaType || "application/octet-stream", isCut };
  binaries.add(made);
  return made;
}

/** The bytes of anything that consists of bytes. */
export function toBytes(value: unknown): Uint8Array | undefined {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (!ArrayBuffer.isView(value)) return undefined;
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

export function concatBytes(chunks: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** Text for types that are text, data for JSON, else the bytes. `mediaType` may be a whole `content-type`. */
export function decodeTyped({ bytes, mediaType, isCut }: Binary, mostCharacters: number): unknown {
  const type = (mediaType.split(";")[0] ?? "").trim().toLowerCase();
  if (!/^text\/|[/+](?:json|xml)$/.test(type)) return createBinary({ bytes, mediaType: type, isCut });
  const charset = /;\s*charset="?([^";\s]+)/i.exec(mediaType)?.[1];
  // A cut may go through a character: what is there of it is dropped.
  const text = createDecoder(charset).decode(bytes, { stream: isCut });
  const isJson = /[/+]json$/.test(type) && !isCut;
  return (isJson && parseJsonData(text)) || limitText(mostCharacters, text, isCut);
}

/** Bytes that nobody named are text if they can be: UTF-8 without a NUL. */
export function decodeUntyped({ bytes, isCut }: Omit<Binary, "mediaType">, mostCharacters: number): unknown {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: isCut });
    if (!text.includes("\0")) return limitText(mostCharacters, text, isCut);
  } catch {
    return createBinary({ bytes, mediaType: "", isCut }); // not UTF-8
  }
  return createBinary({ bytes, mediaType: "", isCut });
}

/** The text, cut if it is longer; `isCut` says that it was cut before. */
export function limitText(most: number, text: string, isCut: boolean): string {
  const shown = text.length > most ? text.slice(0, most).toWellFormed() : text;
  if (!isCut && shown.length === text.length) return text;
  return `${shown}\n… (only the first ${formatNumber(shown.length)} characters were read)`;
}

/** As `data`, so that what a server answers is not taken for the words of the tool. */
function parseJsonData(text: string): ToolReturn | undefined {
  try {
    return { data: JSON.parse(text) };
  } catch {
    return undefined; // then it is text
  }
}

function createDecoder(charset: string | undefined): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder(); // an unknown charset
  }
}
