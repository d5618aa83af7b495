import type { Json } from "../base/json.ts";
import type { AssistantEntry, AssistantPart, Entry, OpaquePart, Part } from "../kernel/history.ts";

/** A message in the format of the GenAI conventions. */
export type TraceMessage = { readonly role: string; readonly parts: readonly Json[] } & {
  readonly finish_reason?: string;
};

/** Per text: traces are not meant to store full content. */
const maxTextLength = 16_384;

export function toTraceMessage(entry: Entry): TraceMessage {
  switch (entry.type) {
    case "user":
      return { role: "user", parts: toContentParts(entry.content) };
    case "assistant":
      return { role: "assistant", parts: toAssistantParts(entry) };
    case "result":
      return toResultMessage(entry.callId, entry.content);
    case "summary":
      return { role: "system", parts: [toTextPart(entry.text)] };
  }
}

export function toResultMessage(id: string, content: string | readonly Part[]): TraceMessage {
  return { role: "tool", parts: [{ type: "tool_call_response", id, response: formatResult(content) }] };
}

export function formatResult(content: string | readonly Part[]): Json {
  return typeof content === "string" ? truncateTraceText(content) : toContentParts(content);
}

export function toTextPart(text: string): Json {
  return { type: "text", content: truncateTraceText(text) };
}

/** Formats arguments as JSON, truncated if too long. */
export function formatArguments(value: Json): string {
  return truncateTraceText(JSON.stringify(value) ?? "null");
}

function toAssistantParts({ parts }: AssistantEntry): Json[] {
  // Opaque data is meant only for the provider.
  return parts.filter((part) => part.type !== "opaque").map(toAssistantPart);
}

function toAssistantPart(part: Exclude<AssistantPart, OpaquePart>): Json {
  if (part.type === "text") return toTextPart(part.text);
  if (part.type === "reasoning") return { type: "reasoning", content: truncateTraceText(part.text) };
  if (part.type === "media") {
    const { mediaType, size = 0 } = part;
    return { type: "blob", modality: mediaType.split("/")[0] ?? "", mime_type: mediaType, size };
  }
  const { id, name, input, raw } = part;
  return { type: "tool_call", id, name, arguments: getArguments(input, raw) };
}

function getArguments(input: Json, raw: string | undefined): Json {
  const text = raw ?? JSON.stringify(input);
  return raw === undefined && text.length <= maxTextLength ? input : truncateTraceText(text);
}

function toContentParts(content: string | readonly Part[]): Json[] {
  if (typeof content === "string") return [toTextPart(content)];
  return content.map((part): Json => {
    if (part.type === "text") return toTextPart(part.text);
    const { mediaType, url, data } = part;
    const modality = mediaType.split("/")[0] ?? "";
    if (url !== undefined)
      return { type: "uri", modality, mime_type: mediaType, uri: truncateTraceText(url) };
    // Only the size is recorded, not the data.
    return { type: part.type, modality, mime_type: mediaType, base64_length: data?.length ?? 0 };
  });
}

function truncateTraceText(text: string): string {
  return text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength).toWellFormed()}…`;
}
