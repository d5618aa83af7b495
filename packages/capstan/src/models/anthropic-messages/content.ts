import type {
  AssistantEntry,
  AssistantPart,
  CallPart,
  OpaquePart,
  Part,
  ResultEntry,
} from "../../history.ts";
import { isRecord, type Json } from "../../json.ts";
import { createToolNames, getOwnData, type ToolNames } from "../wire.ts";

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

type Media = Exclude<Part, { type: "text" }>;

function toMediaBlock(part: Media): Json {
  const { url, data } = extractInlineData(part);
  const type = part.mediaType.toLowerCase().split(";", 1)[0]?.trim().replace("image/jpg", "image/jpeg") ?? "";
  const source =
    data !== undefined
      ? { type: "base64", media_type: type, data }
      : url !== undefined && /^https?:/i.test(url)
        ? { type: "url", url }
        : undefined;
  // An image URL needs no media type.
  if (source && (imageTypes.includes(type) || (part.type === "image" && source.type === "url")))
    return { type: "image", source };
  if (source && type === "application/pdf") return { type: "document", source };
  const text = data !== undefined && isTextual(type) ? decodeBase64(data) : undefined;
  if (text?.trim())
    return { type: "document", source: { type: "text", media_type: "text/plain", data: text } };
  const place = url !== undefined && data === undefined ? ` at ${url}` : "";
  return toTextBlock(`[${part.type} ${part.mediaType}${place}]`);
}

/** Extracts the data of a data URL. */
function extractInlineData({ data, url }: Media): {
  readonly data?: string | undefined;
  readonly url?: string | undefined;
} {
  const found = data === undefined && url !== undefined && /^data:[^,]*;base64,/i.exec(url);
  return found ? { data: url.slice(found[0].length) } : { data, url };
}

function isTextual(mediaType: string): boolean {
  return /^text\/|[/+](?:json|xml|yaml|toml)$|^application\/(?:x-)?(?:javascript|typescript|sh)$/.test(
    mediaType,
  );
}

function decodeBase64(base64: string): string | undefined {
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
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
export function toAssistantBlocks({ parts }: AssistantEntry, getId: (call: CallPart) => string): Json[] {
  return parts.map((part) => toAssistantBlock(part, getId)).filter((block) => block !== undefined);
}

function toAssistantBlock(part: AssistantPart, getId: (call: CallPart) => string): Json | undefined {
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
  }
}

function toOpaqueBlock({ data }: OpaquePart): Json | undefined {
  const block = getOwnRecord(data);
  return typeof block?.type === "string" ? block : undefined;
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
export function findContainer({ parts }: AssistantEntry): string | undefined {
  for (const part of parts) {
    const container = part.type === "opaque" ? getOwnRecord(part.data)?.container : undefined;
    if (isRecord(container) && typeof container.id === "string") return container.id;
  }
  return undefined;
}

function getOwnRecord(opaque: Json | undefined): { readonly [key: string]: Json } | undefined {
  const own = getOwnData(anthropicName, opaque);
  return isRecord(own) ? (own as { readonly [key: string]: Json }) : undefined;
}
