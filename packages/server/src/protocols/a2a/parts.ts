import { AgentError, type Json, type Part, type UserEntry } from "capstan";
import { z } from "zod";
import type { A2aPart } from "./wire.ts";

const contents = ["text", "raw", "url", "data"] as const;

/** A part of a message, as a client sends it. What else it holds is left out. */
export type SentPart = {
  readonly text?: string | undefined;
  readonly raw?: string | undefined;
  readonly url?: string | undefined;
  readonly data?: unknown;
  readonly mediaType?: string | undefined;
};

/** The schema of a part. */
export const sentPart: z.ZodType<SentPart> = z
  .object({
    text: z.string().max(1_000_000).optional(),
    raw: z.string().optional(),
    url: z.string().optional(),
    data: z.unknown().optional(),
    mediaType: z.string().max(200).optional(),
  })
  .refine(
    (part) => contents.filter((name) => name in part).length === 1,
    "a part has one of text, raw, url and data",
  );

/** What somebody says in a message. Data is given to the model as its JSON. */
export function contentOf(parts: readonly SentPart[]): UserEntry["content"] {
  const made = parts.map(partOf).filter((part) => part.type !== "text" || part.text !== "");
  const [first] = made;
  if (!first) throw new AgentError("invalid_input", "There is nothing in the message.");
  return made.length === 1 && first.type === "text" ? first.text : made;
}

function partOf({ text, raw, data, url, mediaType = "" }: SentPart): Part {
  if (text !== undefined) return { type: "text", text };
  if (raw !== undefined) return fileOf(raw, mediaType);
  // Nothing is fetched for a stranger, neither by us nor by a model's server.
  if (url !== undefined)
    throw new AgentError(
      "unsupported_media_type",
      "A file comes in the message itself, as `raw`: nothing is fetched.",
    );
  return { type: "text", text: JSON.stringify(data) };
}

function fileOf(raw: string, mediaType: string): Part {
  if (!/^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(mediaType))
    throw new AgentError(
      "unsupported_media_type",
      "A file has a `mediaType`, such as `image/png`, without parameters.",
    );
  const data = raw.replaceAll("-", "+").replaceAll("_", "/");
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(data))
    throw new AgentError("invalid_input", "The `raw` of a part is base64.");
  return { type: mediaType.startsWith("image/") ? "image" : "file", mediaType, data };
}

/** The words of a message that can have nothing else. */
export function wordsIn(parts: readonly SentPart[]): string {
  const content = contentOf(parts);
  if (typeof content === "string") return content;
  return content
    .map((part) => {
      if (part.type === "text") return part.text;
      throw new AgentError("unsupported_media_type", "A task that is at work can only be told words.");
    })
    .join("\n");
}

/** Content as parts of the protocol. */
export function sentParts(content: string | readonly Part[]): readonly A2aPart[] {
  if (typeof content === "string") return [{ text: content }];
  return content.map((part): A2aPart => {
    if (part.type === "text") return { text: part.text };
    const { mediaType, data, url } = part;
    if (data !== undefined) return { raw: data, mediaType };
    return url === undefined ? { text: `[${part.type} ${mediaType}]` } : { url, mediaType };
  });
}

/** Something for programs. */
export function dataPart(data: { readonly [key: string]: Json | undefined }): A2aPart {
  const entries = Object.entries(data).filter(([, value]) => value !== undefined);
  return { data: Object.fromEntries(entries) as Json, mediaType: "application/json" };
}
