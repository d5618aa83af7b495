import { AgentError, type Json, type Part } from "capstan";
import { z } from "zod";
import type { RunRequest } from "../../runs/start-run.ts";
import { type ClientProvenance, createClientEntry } from "../client-entry.ts";
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

/**
 * Converts the parts of a message to the input of a run. Texts are the user's words; data and files are context, which
 * the client's own program or other agents may have written.
 */
export function toRunInput(parts: readonly SentPart[], provenance: ClientProvenance): RunRequest["input"] {
  const text = joinPartTexts(parts);
  const files = parts.flatMap(({ raw, mediaType = "" }) =>
    raw === undefined ? [] : [toFilePart(raw, mediaType)],
  );
  const data = parts.flatMap((part) => ("data" in part ? [`Data: ${JSON.stringify(part.data)}`] : []));
  const context = [...data, ...files.map(({ mediaType }) => `File: ${mediaType}`)].join("\n");
  if (context === "" && text === "") throw new AgentError("invalid_input", "The message is empty.");
  if (context === "") return text;
  const entry = createClientEntry(provenance, context, files);
  return { history: [entry, ...(text === "" ? [] : [{ type: "user" as const, content: text }])] };
}

function joinPartTexts(parts: readonly SentPart[]): string {
  // Untrusted URLs are never fetched, neither by the server nor by a provider.
  if (parts.some(({ url }) => url !== undefined))
    throw new AgentError("unsupported_media_type", "URLs are not fetched. Send the file as `raw`.");
  return parts.flatMap(({ text }) => text || []).join("\n");
}

function toFilePart(raw: string, mediaType: string): Extract<Part, { readonly mediaType: string }> {
  if (!/^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(mediaType))
    throw new AgentError(
      "unsupported_media_type",
      "A file needs a `mediaType` without parameters, such as `image/png`.",
    );
  const data = raw.replaceAll("-", "+").replaceAll("_", "/");
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(data)) throw new AgentError("invalid_input", "`raw` must be base64.");
  return { type: mediaType.startsWith("image/") ? "image" : "file", mediaType, data };
}

/** Returns the text of a message; refuses data and files. */
export function readMessageText(parts: readonly SentPart[]): string {
  const text = joinPartTexts(parts);
  if (parts.some((part) => "raw" in part || "data" in part))
    throw new AgentError("unsupported_media_type", "A running task accepts only text.");
  if (text === "") throw new AgentError("invalid_input", "The message is empty.");
  return text;
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
