import { isRecord, type Json } from "../../base/json.ts";
import { type GeneratedMedia, type MediaPart, type Part, toPlainText } from "../../kernel/history.ts";
import type { Chunk } from "../../kernel/model.ts";
import { getOwnData } from "../wire.ts";
import { createMediaChunk, detectImageType, findSource, getExtension, getMediaType } from "../wire-media.ts";

type Item = { readonly [field: string]: unknown };

export function toInputContent(content: string | readonly Part[]): string | readonly Item[] {
  return typeof content === "string" ? content.toWellFormed() : content.map(toInputPart);
}

function toInputPart(part: Part): Item {
  const media = part.type === "text" ? undefined : toInputMedia(part);
  return media ?? { type: "input_text", text: toPlainText([part]).toWellFormed() };
}

/** Returns undefined for media that the API does not take: audio, video, and other image formats. */
export function toInputMedia(part: MediaPart): Item | undefined {
  const source = findSource(part, "openai");
  const mediaType = getMediaType(part);
  if (!source || /^(?:audio|video)\//.test(mediaType)) return undefined;
  const inline = source.type === "data" ? `data:${mediaType};base64,${source.data}` : undefined;
  if (part.type === "image" || mediaType.startsWith("image/")) {
    if (!/^image\/(?:png|jpeg|gif|webp|\*)$/.test(mediaType)) return undefined;
    const image = source.type === "file" ? { file_id: source.id } : { image_url: inline ?? part.url };
    return { type: "input_image", ...image, detail: "auto" };
  }
  if (source.type === "file") return { type: "input_file", file_id: source.id };
  if (source.type === "url") return { type: "input_file", file_url: source.url };
  return { type: "input_file", filename: `file.${getExtension(mediaType)}`, file_data: inline };
}

/** Converts a generated image. Its item is kept without the image, which is added again when it is sent back. */
export function readGeneratedImage(item: Item, tagItem: (item: Item) => Json): Chunk {
  const { result, ...rest } = item;
  const data = typeof result === "string" ? result : "";
  const format =
    typeof item.output_format === "string" ? `image/${item.output_format}` : detectImageType(data);
  return createMediaChunk(format, data, tagItem(rest)) ?? { type: "opaque", data: tagItem(item) };
}

/** Returns the item of an image that this API generated. */
export function toGeneratedImage(wire: string, { data, opaque }: GeneratedMedia): Item | undefined {
  const item = getOwnData(wire, opaque);
  return isRecord(item) && data !== undefined ? { ...item, result: data } : undefined;
}
