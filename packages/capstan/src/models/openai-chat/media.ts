import { isRecord } from "../../base/json.ts";
import type { MediaPart } from "../../kernel/history.ts";
import type { Chunk } from "../../kernel/model.ts";
import { filterRecords } from "../wire.ts";
import {
  createAudioChunk,
  createMediaChunk,
  detectImageType,
  findSource,
  getExtension,
  getMediaType,
} from "../wire-media.ts";
import type { ChatQuirks } from "./quirks.ts";

type Fields = { readonly [field: string]: unknown };

/** Returns undefined for media that the server does not take. */
export function toChatMedia(part: MediaPart, quirks: ChatQuirks): Fields | undefined {
  const source = findSource(part, quirks.name === "openai-chat" ? "openai" : (quirks.name ?? ""));
  const mediaType = getMediaType(part);
  const inline = source?.type === "data" ? `data:${mediaType};base64,${source.data}` : undefined;
  const url = inline ?? part.url;
  if (part.type === "image" || mediaType.startsWith("image/"))
    return url && quirks.images !== false ? { type: "image_url", image_url: { url } } : undefined;
  if (mediaType.startsWith("video/"))
    return url && quirks.videos ? { type: "video_url", video_url: { url } } : undefined;
  if (quirks.files === false || !source) return undefined;
  const format = /^audio\/(?:x-|vnd\.)?(wave?|mp3|mpeg)$/.exec(mediaType)?.[1];
  if (format && source.type === "data")
    return {
      type: "input_audio",
      input_audio: { data: source.data, format: format.startsWith("wav") ? "wav" : "mp3" },
    };
  if (source.type === "file") return { type: "file", file: { file_id: source.id } };
  if (!inline) return undefined;
  return { type: "file", file: { filename: `file.${getExtension(mediaType)}`, file_data: inline } };
}

/** Reads the images that gateways add to a message: data URLs. */
export function readImages(images: unknown): readonly Chunk[] {
  return filterRecords(images).flatMap(({ image_url: image }) => {
    const url = isRecord(image) ? image.url : image;
    const source =
      typeof url === "string" ? findSource({ type: "image", mediaType: "", url }, "") : undefined;
    if (source?.type !== "data") return [];
    const named = /^data:(image\/[\w.+-]+)/i.exec(String(url))?.[1];
    return createMediaChunk(named ?? detectImageType(source.data), source.data) ?? [];
  });
}

/** The first characters of audio files in base64. */
const audioHeads = [
  [/^UklGR/, "audio/wav"],
  [/^SUQz|^\/\/[I-Po-v]/, "audio/mpeg"],
  [/^ZkxhQ/, "audio/flac"],
  [/^T2dnU/, "audio/ogg"],
] as const;

/** Creates the audio of an answer. Its format was chosen in the request, which a reader does not see; a stream is raw samples. */
export function closeAudio(pieces: readonly string[], isStreamed: boolean): Chunk {
  const known = isStreamed ? undefined : audioHeads.find(([head]) => head.test(pieces[0] ?? ""));
  return createAudioChunk({ mediaType: known?.[1] ?? "audio/pcm;rate=24000", pieces });
}
