import { AgentError } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import {
  type AssistantEntry,
  formatPlaceholder,
  type GeneratedMedia,
  getText,
  type MediaPart,
} from "../kernel/history.ts";
import type { Chunk } from "../kernel/model.ts";

/** Where a provider gets the content of a part from. */
export type MediaSource =
  | { readonly type: "file"; readonly id: string }
  | { readonly type: "data"; readonly data: string }
  | { readonly type: "url"; readonly url: string };

/** Returns the provider's own file, else the bytes, else the URL; undefined if a part has none of them. */
export function findSource({ file, data, url }: MediaPart, provider: string): MediaSource | undefined {
  if (file?.provider === provider) return { type: "file", id: file.id };
  const inline = data ?? url ?? "";
  const head = /^data:[^,]*;base64,/i.exec(inline.slice(0, 500));
  if (head) return { type: "data", data: inline.slice(head[0].length) };
  if (data !== undefined) return { type: "data", data };
  return url === undefined ? undefined : { type: "url", url };
}

/** Returns the media type without parameters, in lower case. */
export function getMediaType({ mediaType }: Pick<MediaPart, "mediaType">): string {
  const type = mediaType.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return type === "image/jpg" ? "image/jpeg" : type;
}

const extensions: { readonly [mediaType: string]: string } = {
  "text/plain": "txt",
  "text/markdown": "md",
  "text/javascript": "js",
};

/** Returns the extension of a file name: some APIs detect the type by it. */
export function getExtension(mediaType: string): string {
  const subtype = /\/([\w.+-]+)/.exec(mediaType)?.[1] ?? "bin";
  return extensions[mediaType] ?? subtype.split("+").at(-1) ?? "bin";
}

/** Creates a chunk of generated media; undefined if the data is not base64. */
export function createMediaChunk(mediaType: string, data: string, opaque?: Json): Chunk | undefined {
  if (data === "" || data.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return undefined;
  return { type: "media", mediaType, data, ...(opaque !== undefined && { opaque }) };
}

/** Describes generated media to a provider that does not take them back. Text next to audio is its transcript. */
export function describeMedia(part: GeneratedMedia, entry: AssistantEntry): string {
  return part.mediaType.startsWith("audio/") && getText(entry).trim() !== "" ? "" : formatPlaceholder(part);
}

/** The first characters of images in base64. */
const imageHeads = { iVBOR: "image/png", "/9j/": "image/jpeg", UklGR: "image/webp", R0lGOD: "image/gif" };

/** Detects the type of an image by its first bytes. */
export function detectImageType(data: string): string {
  const found = Object.entries(imageHeads).find(([head]) => data.startsWith(head));
  return found?.[1] ?? "image/png";
}

/** Audio that arrives in pieces. */
export type AudioBuffer = { readonly mediaType: string; readonly pieces: readonly string[] };

/** Joins the pieces. Raw samples (16-bit mono, which no player recognizes) become a WAV file. Throws `bad_chunk`. */
export function createAudioChunk({ mediaType, pieces }: AudioBuffer): Chunk {
  const raw = /^audio\/(?:l16|pcm)\b(?:.*\brate=(\d+))?/i.exec(mediaType);
  try {
    const bytes = pieces.map((piece) => atob(piece)).join("");
    if (!raw) return { type: "media", mediaType, data: btoa(bytes) };
    const head = createWavHead(bytes.length, Number(raw[1] ?? 24_000));
    return { type: "media", mediaType: "audio/wav", data: btoa(head + bytes) };
  } catch (cause) {
    throw new AgentError("bad_chunk", "The audio in the model's answer is not base64.", { cause });
  }
}

/** The header of a WAV file as a binary string: PCM, mono, 16 bits. */
function createWavHead(length: number, rate: number): string {
  const toBytes = (value: number, count: number) =>
    String.fromCharCode(...Array.from({ length: count }, (_, index) => (value >>> (8 * index)) & 0xff));
  const format =
    toBytes(1, 2) + toBytes(1, 2) + toBytes(rate, 4) + toBytes(rate * 2, 4) + toBytes(2, 2) + toBytes(16, 2);
  return `RIFF${toBytes(36 + length, 4)}WAVEfmt ${toBytes(16, 4)}${format}data${toBytes(length, 4)}`;
}
