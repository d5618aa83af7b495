/*
 * The body of a request: `model`, settings, then `messages` and `tools`, whose texts are written once per entry and
 * tool, and joined.
 *
 *   system     the instructions, when there are any
 *   user       a text, or a list of text, image_url, input_audio and file parts
 *   assistant  the text beside the calls, or null; tool_calls; reasoning in the field in which this server gave it
 *   tool       one per result, as text
 *
 * Names of control tokens are broken in all of it, unless the server is known to take them for text.
 */
import { type AssistantEntry, type Entry, getCalls, getText, type Part, toPlainText } from "../../history.ts";
import { isRecord, type Json } from "../../json.ts";
import type { ModelRequest, ToolSpec } from "../../model.ts";
import { joinedHistory } from "../history-joiner.ts";
import { textsWithoutTokens } from "../special-tokens.ts";
import { ownData, type WireSettings } from "../wire.ts";
import { chatToolNames, shaped, wireIds } from "./names.ts";
import type { ChatQuirks } from "./quirks.ts";
import { functionParameters } from "./tool-schema.ts";

type Fields = { readonly [field: string]: unknown };

export function chatRequest(
  name: string,
  quirks: ChatQuirks,
): (request: ModelRequest, settings: WireSettings) => string {
  const say: Say = quirks.specialTokens === "kept" ? (texts) => texts : textsWithoutTokens;
  const messagesOf = joinedHistory((entry, place) =>
    JSON.stringify(messageOf(entry, place, { name, quirks, say })),
  );
  const toolTexts = new WeakMap<ToolSpec, string>();

  return (request, settings) => {
    const { instructions, history } = request;
    const system =
      instructions &&
      JSON.stringify({ role: quirks.systemRole ?? "system", content: saidBy(say, instructions) });
    const messages = [system, messagesOf(history)].filter((text) => text !== "").join(",");
    const fields = settingFields(request, settings, quirks);
    const parts = [JSON.stringify(fields).slice(1, -1)];
    if (fields.messages === undefined) parts.push(`"messages":[${messages}]`);
    if (request.tools.length > 0 && fields.tools === undefined)
      parts.push(`"tools":[${request.tools.map((tool) => toolText(tool, say, toolTexts)).join(",")}]`);
    return `{${parts.join(",")}}`;
  };
}

function settingFields(request: ModelRequest, settings: WireSettings, quirks: ChatQuirks): Fields {
  const { model, stream, maxOutputTokens, temperature, extra } = settings;
  const { tools, toolChoice, thinking } = request;
  const choice = toolChoice === "required" ? (quirks.required ?? "required") : toolChoice;
  const form = responseFormat(request, quirks);
  return {
    model,
    stream,
    ...(stream && quirks.usageOption !== false && { stream_options: { include_usage: true } }),
    ...(maxOutputTokens !== undefined && { [quirks.maxTokensField ?? "max_tokens"]: maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(tools.length > 0 && toolChoice !== "auto" && { tool_choice: choice }),
    ...(form && { response_format: form }),
    ...(thinking ? quirks.thinking?.on : quirks.thinking?.off),
    ...extra,
  };
}

function responseFormat({ output, tools }: ModelRequest, quirks: ChatQuirks): Fields | undefined {
  const { output: kind = "json_schema", outputBesideTools = false } = quirks;
  // The root of a form must be an object; other forms stay with the instructions.
  if (!output || kind === "none" || output.type !== "object") return undefined;
  if (tools.length > 0 && !outputBesideTools) return undefined;
  if (kind === "json_object") return { type: "json_object" };
  const { $schema: _, ...schema } = output;
  return { type: "json_schema", json_schema: { name: "answer", schema } };
}

function toolText(tool: ToolSpec, say: Say, known: WeakMap<ToolSpec, string>): string {
  let text = known.get(tool);
  if (text === undefined) {
    const { description, input } = tool;
    const parameters = functionParameters(input);
    const name = chatToolNames.offered(tool.name);
    // Descriptions may be a stranger's words; the rest of a schema is compared with what the model says.
    const described = (key: string, value: unknown) =>
      key === "description" && typeof value === "string" ? saidBy(say, value) : value;
    text = JSON.stringify({ type: "function", function: { name, description, parameters } }, described);
    known.set(tool, text);
  }
  return text;
}

type Place = { readonly history: readonly Entry[]; readonly at: number };
type Speaker = { readonly name: string; readonly quirks: ChatQuirks; readonly say: Say };

/** Texts that stand next to each other, as they are sent. */
type Say = (texts: readonly string[]) => readonly string[];

function saidBy(say: Say, text: string): string {
  return say([text])[0] ?? "";
}

function messageOf(entry: Entry, place: Place, speaker: Speaker): Fields {
  switch (entry.type) {
    case "user":
      return { role: "user", content: userContent(entry.content, speaker) };
    case "summary":
      return {
        role: "user",
        content: `Summary of the conversation so far:\n${saidBy(speaker.say, entry.text)}`,
      };
    case "assistant":
      return assistantMessage(entry, speaker);
    case "result":
      return {
        role: "tool",
        tool_call_id: resultId(entry.callId, place, speaker.quirks),
        content: saidBy(speaker.say, toPlainText(entry.content)),
      };
  }
}

/** What the server called the call that a result answers: the one before it with our id. */
function resultId(callId: string, { history, at }: Place, quirks: ChatQuirks): string {
  for (let before = at - 1; before >= 0; before--) {
    const entry = history[before];
    const id = entry?.type === "assistant" ? wireIds(entry, quirks).get(callId) : undefined;
    if (id !== undefined) return id;
  }
  return shaped(callId, quirks.callIds);
}

function assistantMessage(entry: AssistantEntry, speaker: Speaker): Fields {
  const { name, quirks, say } = speaker;
  const ids = wireIds(entry, quirks);
  const text = saidBy(say, getText(entry));
  const calls = getCalls(entry).map((call) => ({
    ...extraOf(ownData(name, call.opaque)),
    id: ids.get(call.id),
    type: "function",
    function: { name: chatToolNames.sent(call.name), arguments: saidBy(say, argumentText(call, quirks)) },
  }));
  const { thinking, ...fields } =
    quirks.replayReasoning === false ? { thinking: "" } : reasoningOf(entry, speaker);
  const content = text === "" && calls.length > 0 ? null : text;
  return {
    role: "assistant",
    content: thinking ? [thinkingPart(thinking), ...(text ? [{ type: "text", text }] : [])] : content,
    ...fields,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function argumentText(call: { readonly input: Json; readonly raw?: string }, quirks: ChatQuirks): string {
  if (call.raw === undefined) return JSON.stringify(call.input);
  return quirks.brokenArguments === "text" ? call.raw : JSON.stringify({ _raw: call.raw });
}

function extraOf(data: Json | undefined): Fields {
  return isRecord(data) ? data : {};
}

function thinkingPart(text: string): Fields {
  return { type: "thinking", thinking: [{ type: "text", text }] };
}

/** The reasoning that this server gave, in the fields in which it gave it. */
function reasoningOf(
  entry: AssistantEntry,
  { name, say }: Speaker,
): { thinking: string; [field: string]: unknown } {
  const texts: Record<string, string> = {};
  const details: unknown[] = [];
  for (const part of entry.parts) {
    const data = part.type === "reasoning" ? ownData(name, part.opaque) : undefined;
    if (part.type !== "reasoning" || !isRecord(data)) continue;
    if (typeof data.field === "string")
      texts[data.field] = (texts[data.field] ?? "") + saidBy(say, part.text);
    if (Array.isArray(data.details)) details.push(...data.details);
  }
  const { thinking = "", ...fields } = texts;
  return { thinking, ...fields, ...(details.length > 0 && { reasoning_details: details }) };
}

function userContent(content: string | readonly Part[], speaker: Speaker): unknown {
  const { say } = speaker;
  if (typeof content === "string") return saidBy(say, content);
  const texts = say(content.map((part) => (part.type === "text" ? part.text : "")));
  const parts = content.map((part, index) =>
    part.type === "text" ? { type: "text", text: texts[index] } : mediaPart(part, speaker),
  );
  const [only] = parts;
  return parts.length === 1 && only?.type === "text" ? only.text : parts;
}

function mediaPart(part: Exclude<Part, { readonly type: "text" }>, { quirks, say }: Speaker): Fields {
  const { mediaType, data, url } = part;
  const isImage = part.type === "image" || mediaType.startsWith("image/");
  const inline = data === undefined ? undefined : `data:${mediaType};base64,${data}`;
  if (isImage && quirks.images !== false && (inline ?? url))
    return { type: "image_url", image_url: { url: inline ?? url } };
  const audio = /^audio\/(?:x-)?(wav|mp3|mpeg)$/.exec(mediaType)?.[1];
  if (!isImage && quirks.files !== false && data !== undefined) {
    if (audio) return { type: "input_audio", input_audio: { data, format: audio === "wav" ? "wav" : "mp3" } };
    return { type: "file", file: { filename: `file.${mediaType.replace(/^.*\//, "")}`, file_data: inline } };
  }
  return { type: "text", text: saidBy(say, `[${part.type} ${mediaType}${url ? `: ${url}` : ""}]`) };
}
