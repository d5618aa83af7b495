import { fromBase64, isRecord, type Json } from "../../base/json.ts";
import {
  type AssistantEntry,
  type AssistantPart,
  type CallPart,
  type Entry,
  formatPlaceholder,
  type MediaPart,
  type OpaquePart,
  type Part,
  type ResultEntry,
} from "../../kernel/history.ts";
import { createToolNames, getOwnData, type ToolNames } from "../wire.ts";
import { describeMedia, findSource, getMediaType, type MediaSource } from "../wire-media.ts";

/** Tags opaque data as Anthropic's. */
export const anthropicName = "anthropic";

/** Converts a call id to the characters that Anthropic accepts. */
export function sanitizeId(id: string): string {
  return id.replace(/[^\w-]/g, "_") || "call";
}

export const anthropicToolNames: ToolNames = createToolNames(/^[\w-]{1,64}$/, /[^\w-]/g);

const imageTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/** Serializes to JSON without lone surrogates, which the API rejects. */
export function stringify(value: unknown): string {
  const json = JSON.stringify(value);
  if (!json.includes("\\ud")) return json;
  return json.replace(/\\(?:ud[89a-f][0-9a-f]{2}|[\s\S])/g, (found) =>
    found.length > 2 ? "\\ufffd" : found,
  );
}

/** Converts user or tool content. Blank texts are dropped because the API rejects them. */
export function toContentBlocks(content: string | readonly Part[]): Json[] {
  const parts: readonly Part[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  return parts.flatMap((part) => {
    if (part.type !== "text") return [toMediaBlock(part)];
    return part.text.trim() === "" ? [] : [toTextBlock(part.text)];
  });
}

export function toTextBlock(text: string): { readonly [key: string]: Json } {
  return { type: "text", text };
}

function toMediaBlock(part: MediaPart): Json {
  const { url, data } = part;
  const place = url !== undefined && data === undefined && !url.startsWith("data:") ? ` at ${url}` : "";
  return toAnthropicMedia(part) ?? toTextBlock(formatPlaceholder(part).replace(/\]$/, `${place}]`));
}

/** Returns undefined for media that the API does not take: audio, video, and other image and file formats. */
export function toAnthropicMedia(part: MediaPart): Json | undefined {
  const found = findSource(part, anthropicName);
  const type = getMediaType(part);
  const source = found && toBlockSource(found, type);
  // An image at a URL needs no media type.
  if (source && (imageTypes.includes(type) || (part.type === "image" && found.type === "url")))
    return { type: "image", source };
  if (source && (type === "application/pdf" || (found.type === "file" && isTextual(type))))
    return { type: "document", source };
  const text = found?.type === "data" && isTextual(type) ? decodeTextFile(found.data) : undefined;
  if (!text?.trim()) return undefined;
  return { type: "document", source: { type: "text", media_type: "text/plain", data: text } };
}

function toBlockSource(found: MediaSource, mediaType: string): Json | undefined {
  if (found.type === "file") return { type: "file", file_id: found.id };
  if (found.type === "data") return { type: "base64", media_type: mediaType, data: found.data };
  return /^https?:/i.test(found.url) ? { type: "url", url: found.url } : undefined;
}

function isTextual(mediaType: string): boolean {
  return /^text\/|[/+](?:json|xml|yaml|toml)$|^application\/(?:x-)?(?:javascript|typescript|sh)$/.test(
    mediaType,
  );
}

function decodeTextFile(base64: string): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(fromBase64(base64));
  } catch {
    return undefined; // not base64 or not text: only its type is sent
  }
}

/** A result whose status is not `ok` is marked as an error. */
export function toResultBlock({ content, status }: ResultEntry, id: string): Json {
  return {
    type: "tool_result",
    tool_use_id: id,
    content: typeof content === "string" ? content : toContentBlocks(content),
    ...(status !== "ok" && { is_error: true }),
  };
}

/** Converts the parts in order. Thinking is included only with its signature; data of other providers is dropped. */
export function toAssistantBlocks(entry: AssistantEntry, getId: (call: CallPart) => string): Json[] {
  return entry.parts
    .map((part) => toAssistantBlock(part, entry, getId))
    .filter((block) => block !== undefined);
}

function toAssistantBlock(
  part: AssistantPart,
  entry: AssistantEntry,
  getId: (call: CallPart) => string,
): Json | undefined {
  switch (part.type) {
    case "text": {
      if (part.text.trim() === "") return undefined;
      const citations = getOwnRecord(part.opaque)?.citations;
      return { ...toTextBlock(part.text), ...(citations !== undefined && { citations }) };
    }
    case "reasoning": {
      const signature = getOwnRecord(part.opaque)?.signature;
      return typeof signature === "string" ? { type: "thinking", thinking: part.text, signature } : undefined;
    }
    case "call":
      return toCallBlock(part, getId(part));
    case "opaque":
      return toOpaqueBlock(part);
    case "media": {
      const note = describeMedia(part, entry);
      return note === "" ? undefined : toTextBlock(note);
    }
  }
}

function toOpaqueBlock({ data }: OpaquePart): Json | undefined {
  const block = getOwnRecord(data);
  return typeof block?.type === "string" ? block : undefined;
}

/** Models that reject thinking which was written for other instructions, tools or messages. */
const bindingModels = /^claude-(?:(?:opus|sonnet|haiku)-(?:5-5|[6-9])|(?:fable|mythos)-(?:5-1|[6-9]))/;

/** Whether a request sends thinking back to a model that binds it to what came before. */
export function resendsBoundThinking(history: readonly Entry[], model: string): boolean {
  const isThinking = (part: AssistantPart) =>
    (part.type === "reasoning" && getOwnRecord(part.opaque)?.signature !== undefined) ||
    (part.type === "opaque" && getOwnRecord(part.data)?.type === "redacted_thinking");
  return (
    bindingModels.test(model) &&
    history.some((entry) => entry.type === "assistant" && entry.parts.some(isThinking))
  );
}

/** Whether the answer ended in a server tool: the model continues it when it is sent back as the last message. */
export function isPaused({ parts }: AssistantEntry): boolean {
  const last = parts.findLast((part) => part.type !== "opaque" || toOpaqueBlock(part) !== undefined);
  return last?.type === "opaque" && getOwnRecord(last.data)?.type !== "redacted_thinking";
}

function toCallBlock({ name, input, raw, opaque }: CallPart, id: string): Json {
  const call = { type: "tool_use", id, name: anthropicToolNames.encodeName(name) };
  const { id: _id, ...ownFields } = getOwnRecord(opaque) ?? {};
  return { ...call, input: raw === undefined ? input : { _raw: raw }, ...ownFields };
}

/** Returns the id of the container in which code of this message ran. */
export function findContainer(entry: AssistantEntry): string | undefined {
  return readContainer(entry)?.id;
}

/** A container that expires within this time is not used again. */
const containerMarginMs = 60_000;

/** Returns the newest container of the history, unless it has expired at the time `now`. */
export function findLiveContainer(history: readonly Entry[], now: number): string | undefined {
  for (const entry of history.toReversed()) {
    const container = entry.type === "assistant" ? readContainer(entry) : undefined;
    if (container) return container.expiresAt - containerMarginMs > now ? container.id : undefined;
  }
  return undefined;
}

function readContainer({ parts }: AssistantEntry): { id: string; expiresAt: number } | undefined {
  for (const part of parts) {
    const container = part.type === "opaque" ? getOwnRecord(part.data)?.container : undefined;
    if (isRecord(container) && typeof container.id === "string")
      return { id: container.id, expiresAt: Date.parse(String(container.expires_at)) || 0 };
  }
  return undefined;
}

function getOwnRecord(opaque: Json | undefined): { readonly [key: string]: Json } | undefined {
  const own = getOwnData(anthropicName, opaque);
  return isRecord(own) ? (own as { readonly [key: string]: Json }) : undefined;
}
