import type {
  AssistantEntry,
  AssistantPart,
  CallPart,
  OpaquePart,
  Part,
  ResultEntry,
} from "../../history.ts";
import { isRecord, type Json } from "../../json.ts";
import { ownData } from "../wire.ts";
import { anthropicName, anthropicToolNames } from "./names.ts";

const imageTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/** As JSON without lone halves of surrogate pairs, for which the API refuses a request. */
export function written(value: unknown): string {
  const json = JSON.stringify(value);
  if (!json.includes("\\ud")) return json;
  return json.replace(/\\(?:ud[89a-f][0-9a-f]{2}|[\s\S])/g, (found) =>
    found.length > 2 ? "\\ufffd" : found,
  );
}

/** The blocks of what a person or a tool gave. Blank texts are refused by the API and left out. */
export function contentBlocks(content: string | readonly Part[]): Json[] {
  const parts: readonly Part[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  return parts.flatMap((part) => {
    if (part.type !== "text") return [mediaBlock(part)];
    return part.text.trim() === "" ? [] : [textBlock(part.text)];
  });
}

export function textBlock(text: string): { readonly [key: string]: Json } {
  return { type: "text", text };
}

type Media = Exclude<Part, { type: "text" }>;

function mediaBlock(part: Media): Json {
  const { url, data } = inlined(part);
  const type = part.mediaType.toLowerCase().split(";", 1)[0]?.trim().replace("image/jpg", "image/jpeg") ?? "";
  const source =
    data !== undefined
      ? { type: "base64", media_type: type, data }
      : url !== undefined && /^https?:/i.test(url)
        ? { type: "url", url }
        : undefined;
  // What is at an address needs no type to be an image.
  if (source && (imageTypes.includes(type) || (part.type === "image" && source.type === "url")))
    return { type: "image", source };
  if (source && type === "application/pdf") return { type: "document", source };
  const text = data !== undefined && isTextual(type) ? decoded(data) : undefined;
  if (text?.trim())
    return { type: "document", source: { type: "text", media_type: "text/plain", data: text } };
  const place = url !== undefined && data === undefined ? ` at ${url}` : "";
  return textBlock(`[${part.type} ${part.mediaType}${place}]`);
}

/** A data URL is data. */
function inlined({ data, url }: Media): {
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

function decoded(base64: string): string | undefined {
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined; // not base64, or not text: it is named instead
  }
}

/** The model sees as an error what did not go well. */
export function resultBlock({ content, status }: ResultEntry, id: string): Json {
  return {
    type: "tool_result",
    tool_use_id: id,
    content: typeof content === "string" ? content : contentBlocks(content),
    ...(status !== "ok" && { is_error: true }),
  };
}

/** What the assistant said, in order. Thinking goes back only with its signature, and nothing of other providers. */
export function assistantBlocks({ parts }: AssistantEntry, idOf: (call: CallPart) => string): Json[] {
  return parts.map((part) => assistantBlock(part, idOf)).filter((block) => block !== undefined);
}

function assistantBlock(part: AssistantPart, idOf: (call: CallPart) => string): Json | undefined {
  switch (part.type) {
    case "text": {
      if (part.text.trim() === "") return undefined;
      const citations = ownRecord(part.opaque)?.citations;
      return { ...textBlock(part.text), ...(citations !== undefined && { citations }) };
    }
    case "reasoning": {
      const signature = ownRecord(part.opaque)?.signature;
      return typeof signature === "string" ? { type: "thinking", thinking: part.text, signature } : undefined;
    }
    case "call":
      return callBlock(part, idOf(part));
    case "opaque":
      return opaqueBlock(part);
  }
}

function opaqueBlock({ data }: OpaquePart): Json | undefined {
  const block = ownRecord(data);
  return typeof block?.type === "string" ? block : undefined;
}

/** Whether a server's tool had the last word: such an answer goes on when it is sent back as the last message. */
export function isPaused({ parts }: AssistantEntry): boolean {
  const last = parts.findLast((part) => part.type !== "opaque" || opaqueBlock(part) !== undefined);
  return last?.type === "opaque" && ownRecord(last.data)?.type !== "redacted_thinking";
}

function callBlock({ name, input, raw, opaque }: CallPart, id: string): Json {
  const call = { type: "tool_use", id, name: anthropicToolNames.sent(name) };
  return { ...call, input: raw === undefined ? input : { _raw: raw }, ...ownRecord(opaque) };
}

/** The container in which the code of this message ran. */
export function containerOf({ parts }: AssistantEntry): string | undefined {
  for (const part of parts) {
    const container = part.type === "opaque" ? ownRecord(part.data)?.container : undefined;
    if (isRecord(container) && typeof container.id === "string") return container.id;
  }
  return undefined;
}

function ownRecord(opaque: Json | undefined): { readonly [key: string]: Json } | undefined {
  const own = ownData(anthropicName, opaque);
  return isRecord(own) ? (own as { readonly [key: string]: Json }) : undefined;
}
