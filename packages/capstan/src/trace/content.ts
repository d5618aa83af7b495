import type { AssistantEntry, AssistantPart, Entry, OpaquePart, Part } from "../history.ts";
import type { Json } from "../json.ts";

/** A message in the form of the convention: a role and typed parts. */
export type TracedMessage = { readonly role: string; readonly parts: readonly Json[] } & {
  readonly finish_reason?: string;
};

/** Of one text; a trace is no store. */
const longestText = 16_384;

/** An entry of the history as a message of the convention. */
export function messageOf(entry: Entry): TracedMessage {
  switch (entry.type) {
    case "user":
      return { role: "user", parts: partsOf(entry.content) };
    case "assistant":
      return { role: "assistant", parts: saidIn(entry) };
    case "result":
      return resultMessage(entry.callId, entry.content);
    case "summary":
      return { role: "system", parts: [textPart(entry.text)] };
  }
}

/** The result of a call as a message of the convention. */
export function resultMessage(id: string, content: string | readonly Part[]): TracedMessage {
  return { role: "tool", parts: [{ type: "tool_call_response", id, response: resultText(content) }] };
}

/** What a call came to, as it is shown. */
export function resultText(content: string | readonly Part[]): Json {
  return typeof content === "string" ? cut(content) : partsOf(content);
}

/** A text as a part of a message. */
export function textPart(text: string): Json {
  return { type: "text", content: cut(text) };
}

/** Arguments as JSON text: whole, or cut where they are too long to be shown. */
export function argumentsText(value: Json): string {
  return cut(JSON.stringify(value) ?? "null");
}

function saidIn({ parts }: AssistantEntry): Json[] {
  // The provider's own data is for the provider.
  return parts.filter((part) => part.type !== "opaque").map(saidPart);
}

function saidPart(part: Exclude<AssistantPart, OpaquePart>): Json {
  if (part.type === "text") return textPart(part.text);
  if (part.type === "reasoning") return { type: "reasoning", content: cut(part.text) };
  const { id, name, input, raw } = part;
  return { type: "tool_call", id, name, arguments: shownArguments(input, raw) };
}

function shownArguments(input: Json, raw: string | undefined): Json {
  const text = raw ?? JSON.stringify(input);
  return raw === undefined && text.length <= longestText ? input : cut(text);
}

function partsOf(content: string | readonly Part[]): Json[] {
  if (typeof content === "string") return [textPart(content)];
  return content.map((part): Json => {
    if (part.type === "text") return textPart(part.text);
    const { mediaType, url, data } = part;
    const modality = mediaType.split("/")[0] ?? "";
    if (url !== undefined) return { type: "uri", modality, mime_type: mediaType, uri: cut(url) };
    // The bytes themselves are left out.
    return { type: part.type, modality, mime_type: mediaType, base64_length: data?.length ?? 0 };
  });
}

function cut(text: string): string {
  return text.length <= longestText ? text : `${text.slice(0, longestText).toWellFormed()}…`;
}
