import { AgentError, type Json, type Part, type UserEntry } from "capstan";
import { z } from "zod";
import type { A2aPart } from "./wire.ts";

const contentFields = ["text", "raw", "url", "data"] as const;

/** A message part as sent by a client. Other fields are ignored. */
export type SentPart = {
  readonly text?: string | undefined;
  readonly raw?: string | undefined;
  readonly url?: string | undefined;
  readonly data?: unknown;
  readonly mediaType?: string | undefined;
};

export const sentPart: z.ZodType<SentPart> = z
  .object({
    text: z.string().max(1_000_000).optional(),
    raw: z.string().optional(),
    url: z.string().optional(),
    data: z.unknown().optional(),
    mediaType: z.string().max(200).optional(),
  })
  .refine(
    (part) => contentFields.filter((name) => name in part).length === 1,
    "a part must have exactly one of text, raw, url and data",
  );

/** Converts parts to user content. Data becomes JSON text. */
export function toInputContent(parts: readonly SentPart[]): UserEntry["content"] {
  const made = parts.map(toPart).filter((part) => part.type !== "text" || part.text !== "");
  const [first] = made;
  if (!first) throw new AgentError("invalid_input", "The message is empty.");
  return made.length === 1 && first.type === "text" ? first.text : made;
}

function toPart({ text, raw, data, url, mediaType = "" }: SentPart): Part {
  if (text !== undefined) return { type: "text", text };
  if (raw !== undefined) return toFilePart(raw, mediaType);
  // Untrusted URLs are never fetched, neither by the server nor by a provider.
  if (url !== undefined)
    throw new AgentError("unsupported_media_type", "URLs are not fetched. Send the file as `raw`.");
  return { type: "text", text: JSON.stringify(data) };
}

function toFilePart(raw: string, mediaType: string): Part {
  if (!/^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(mediaType))
    throw new AgentError(
      "unsupported_media_type",
      "A file needs a `mediaType` without parameters, such as `image/png`.",
    );
  const data = raw.replaceAll("-", "+").replaceAll("_", "/");
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(data)) throw new AgentError("invalid_input", "`raw` must be base64.");
  return { type: mediaType.startsWith("image/") ? "image" : "file", mediaType, data };
}

/** Returns the text of a message; refuses files. */
export function readMessageText(parts: readonly SentPart[]): string {
  const content = toInputContent(parts);
  if (typeof content === "string") return content;
  return content
    .map((part) => {
      if (part.type === "text") return part.text;
      throw new AgentError("unsupported_media_type", "A running task accepts only text.");
    })
    .join("\n");
}

export function toA2aParts(content: string | readonly Part[]): readonly A2aPart[] {
  if (typeof content === "string") return [{ text: content }];
  return content.map((part): A2aPart => {
    if (part.type === "text") return { text: part.text };
    const { mediaType, data, url } = part;
    if (data !== undefined) return { raw: data, mediaType };
    return url === undefined ? { text: `[${part.type} ${mediaType}]` } : { url, mediaType };
  });
}

/** Creates a part for programs. */
export function createDataPart(data: { readonly [key: string]: Json | undefined }): A2aPart {
  const entries = Object.entries(data).filter(([, value]) => value !== undefined);
  return { data: Object.fromEntries(entries) as Json, mediaType: "application/json" };
}
