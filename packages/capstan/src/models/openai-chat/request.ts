/*
 * The request body: `model`, settings, then `messages` and `tools`, which are serialized once per entry and tool and
 * then joined.
 *
 *   system     the instructions, if any
 *   user       a string, or a list of text, image_url, input_audio and file parts
 *   assistant  the text, or null; tool_calls; reasoning in the field it arrived in
 *   tool       one per result, as text; the media of a turn's results follow in a user message
 *
 * Names of control tokens are broken up, unless the server is known to read them as text.
 */

import { isRecord, type Json } from "../../base/json.ts";
import { createHistoryJoiner } from "../../features/exact-requests/history-joiner.ts";
import {
  type AssistantEntry,
  type Entry,
  formatPlaceholder,
  getCalls,
  getMedia,
  getText,
  type MediaPart,
  type Part,
  toPlainText,
} from "../../kernel/history.ts";
import type { ModelRequest, ToolSpec } from "../../kernel/model.ts";
import type { ToolChoice } from "../../kernel/settings/settings.ts";
import { withDistinctCallIds } from "../distinct-call-ids.ts";
import { breakTokensAcross } from "../special-tokens.ts";
import { getOwnData, toList, type WireSettings } from "../wire.ts";
import { describeMedia } from "../wire-media.ts";
import { buildSearchOptions } from "./hosted.ts";
import { toChatMedia } from "./media.ts";
import { assignWireIds, chatToolNames, formatCallId } from "./names.ts";
import type { ChatQuirks } from "./quirks.ts";
import { buildChatSettings } from "./settings.ts";
import { toFunctionParameters } from "./tool-schema.ts";

type Fields = { readonly [field: string]: unknown };

export function createChatRequest(
  name: string,
  quirks: ChatQuirks,
): (request: ModelRequest, settings: WireSettings) => string {
  const sanitize: SanitizeTexts = quirks.specialTokens === "kept" ? (texts) => texts : breakTokensAcross;
  const joinMessages = createHistoryJoiner((entry, position) =>
    toMessages(entry, position, { name, quirks, sanitize })
      .map((message) => JSON.stringify(message))
      .join(","),
  );
  const toolTexts = new WeakMap<ToolSpec, string>();

  return (request, settings) => {
    const { instructions, history } = request;
    const system =
      instructions &&
      JSON.stringify({ role: quirks.systemRole ?? "system", content: sanitizeText(sanitize, instructions) });
    const { text: joined } = joinMessages(withDistinctCallIds(history));
    const separator = system !== "" && joined !== "" ? "," : "";
    const tools = selectTools(request, quirks);
    const fields = buildChatFields(request, settings, { quirks, tools });
    // Concatenated, not joined from a list: a long history is copied only once, when the request is sent.
    let body = JSON.stringify(fields).slice(0, -1);
    if (fields.messages === undefined) body += `,"messages":[${system}${separator}${joined}]`;
    if (tools.length > 0 && fields.tools === undefined)
      body += `,"tools":[${tools.map((tool) => serializeChatTool(tool, sanitize, toolTexts)).join(",")}]`;
    return `${body}}`;
  };
}

function buildChatFields(
  request: ModelRequest,
  settings: WireSettings,
  { quirks, tools }: { readonly quirks: ChatQuirks; readonly tools: readonly ToolSpec[] },
): Fields {
  const { model, stream, extra } = settings;
  const { toolChoice } = request;
  const format = buildResponseFormat(request, quirks);
  return {
    model,
    stream,
    ...(stream && quirks.usageOption !== false && { stream_options: { include_usage: true } }),
    ...buildChatSettings(request, settings, quirks),
    ...(tools.length > 0 && toolChoice !== "auto" && { tool_choice: toChatChoice(toolChoice, quirks) }),
    ...(format && { response_format: format }),
    ...(request.hosted && buildSearchOptions(request.hosted)),
    ...extra,
  };
}

/** A server that does not accept a tool by name gets no other. */
function selectTools({ tools, toolChoice }: ModelRequest, { namedChoice }: ChatQuirks): readonly ToolSpec[] {
  if (typeof toolChoice === "string" || namedChoice !== "alone") return tools;
  return tools.filter(({ name }) => name === toolChoice.tool);
}

function toChatChoice(choice: ToolChoice, { required = "required", namedChoice }: ChatQuirks): unknown {
  if (typeof choice === "string") return choice === "required" ? required : choice;
  if (namedChoice === "alone") return required;
  return { type: "function", function: { name: chatToolNames.encodeName(choice.tool) } };
}

function buildResponseFormat({ output, tools }: ModelRequest, quirks: ChatQuirks): Fields | undefined {
  const { output: kind = "json_schema", outputBesideTools = false } = quirks;
  // The root schema must be an object; other schemas are described in the instructions only.
  if (!output || kind === "none" || output.type !== "object") return undefined;
  if (tools.length > 0 && !outputBesideTools) return undefined;
  if (kind === "json_object") return { type: "json_object" };
  const { $schema: _, ...schema } = output;
  return { type: "json_schema", json_schema: { name: "answer", schema } };
}

function serializeChatTool(
  tool: ToolSpec,
  sanitize: SanitizeTexts,
  known: WeakMap<ToolSpec, string>,
): string {
  let text = known.get(tool);
  if (text === undefined) {
    const { description, input } = tool;
    const parameters = toFunctionParameters(input);
    const name = chatToolNames.registerName(tool.name);
    // Descriptions may be untrusted; the rest of a schema must match the model's output.
    const sanitizeDescription = (key: string, value: unknown) =>
      key === "description" && typeof value === "string" ? sanitizeText(sanitize, value) : value;
    text = JSON.stringify(
      { type: "function", function: { name, description, parameters } },
      sanitizeDescription,
    );
    known.set(tool, text);
  }
  return text;
}

type HistoryPosition = { readonly history: readonly Entry[]; readonly at: number };
type MessageContext = {
  readonly name: string;
  readonly quirks: ChatQuirks;
  readonly sanitize: SanitizeTexts;
};

/** Prepares adjacent texts for sending. */
type SanitizeTexts = (texts: readonly string[]) => readonly string[];

function sanitizeText(sanitize: SanitizeTexts, text: string): string {
  return sanitize([text])[0] ?? "";
}

function toMessages(entry: Entry, position: HistoryPosition, context: MessageContext): readonly Fields[] {
  const message = toMessage(entry, position, context);
  if (entry.type !== "result" || position.history[position.at + 1]?.type === "result") return [message];
  const content = listResultMedia(position, context);
  return content.length > 0 ? [message, { role: "user", content }] : [message];
}

/** The results of a turn take only text, so that their media follow the last one. */
function listResultMedia({ history, at }: HistoryPosition, { quirks, sanitize }: MessageContext): Fields[] {
  const parts: Fields[] = [];
  for (let index = at; quirks.resultMedia !== false && index >= 0; index--) {
    const entry = history[index];
    if (entry?.type !== "result") break;
    if (typeof entry.content === "string") continue;
    const media = entry.content.flatMap((part): Fields[] => {
      const sent = part.type === "text" ? undefined : toChatMedia(part, quirks);
      return sent ? [sent] : [];
    });
    const head = { type: "text", text: sanitizeText(sanitize, `From the result of ${entry.name}:`) };
    if (media.length > 0) parts.unshift(head, ...media);
  }
  return parts;
}

function toMessage(entry: Entry, position: HistoryPosition, context: MessageContext): Fields {
  switch (entry.type) {
    case "user":
      return { role: "user", content: toUserContent(entry.content, context) };
    case "summary":
      return {
        role: "user",
        content: `Summary of the conversation so far:\n${sanitizeText(context.sanitize, entry.text)}`,
      };
    case "assistant":
      return toAssistantMessage(entry, context);
    case "result":
      return {
        role: "tool",
        tool_call_id: findResultId(entry.callId, position, context),
        content: sanitizeText(context.sanitize, toPlainText(entry.content)),
      };
  }
}

/** Finds the server's id of the call that a result answers: the nearest preceding call with our id. */
function findResultId(callId: string, { history, at }: HistoryPosition, context: MessageContext): string {
  for (let before = at - 1; before >= 0; before--) {
    const entry = history[before];
    const id = entry?.type === "assistant" ? assignWireIds(entry, context).get(callId) : undefined;
    if (id !== undefined) return id;
  }
  return formatCallId(callId, context.quirks.callIds);
}

function toAssistantMessage(entry: AssistantEntry, context: MessageContext): Fields {
  const { name, quirks, sanitize } = context;
  const ids = assignWireIds(entry, context);
  const notes = getMedia(entry).map((part) => describeMedia(part, entry));
  const text = sanitizeText(sanitize, [getText(entry), ...notes].filter((note) => note !== "").join("\n"));
  const calls = getCalls(entry).map((call) => ({
    ...toFields(getOwnData(name, call.opaque)),
    id: ids.get(call.id),
    type: "function",
    function: {
      name: chatToolNames.encodeName(call.name),
      arguments: sanitizeText(sanitize, serializeArguments(call, quirks)),
    },
  }));
  const { thinking, ...fields } =
    quirks.replayReasoning === false ? { thinking: "" } : collectReasoning(entry, context);
  const content = text === "" && calls.length > 0 ? null : text;
  return {
    role: "assistant",
    content: thinking ? [toThinkingPart(thinking), ...(text ? [{ type: "text", text }] : [])] : content,
    ...fields,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function serializeArguments(
  call: { readonly input: Json; readonly raw?: string },
  quirks: ChatQuirks,
): string {
  if (call.raw === undefined) return JSON.stringify(call.input);
  return quirks.brokenArguments === "text" ? call.raw : JSON.stringify({ _raw: call.raw });
}

function toFields(data: Json | undefined): Fields {
  return isRecord(data) ? data : {};
}

function toThinkingPart(text: string): Fields {
  return { type: "thinking", thinking: [{ type: "text", text }] };
}

/** Collects the reasoning of this server by the field it arrived in. */
function collectReasoning(
  entry: AssistantEntry,
  { name, sanitize }: MessageContext,
): { thinking: string; [field: string]: unknown } {
  const texts: Record<string, string> = {};
  const details: unknown[] = [];
  const blocks: unknown[] = [];
  for (const part of entry.parts) {
    const data = part.type === "reasoning" ? getOwnData(name, part.opaque) : undefined;
    if (part.type !== "reasoning" || !isRecord(data)) continue;
    if (typeof data.field === "string")
      texts[data.field] = (texts[data.field] ?? "") + sanitizeText(sanitize, part.text);
    details.push(...toList(data.details));
    blocks.push(...toList(data.blocks));
  }
  const { thinking = "", ...fields } = texts;
  return {
    ...{ thinking, ...fields },
    ...(details.length > 0 && { reasoning_details: details }),
    ...(blocks.length > 0 && { thinking_blocks: blocks }),
  };
}

function toUserContent(content: string | readonly Part[], context: MessageContext): unknown {
  const { sanitize } = context;
  if (typeof content === "string") return sanitizeText(sanitize, content);
  const texts = sanitize(content.map((part) => (part.type === "text" ? part.text : "")));
  const parts = content.map((part, index) =>
    part.type === "text" ? { type: "text", text: texts[index] } : toMediaPart(part, context),
  );
  const [only] = parts;
  return parts.length === 1 && only?.type === "text" ? only.text : parts;
}

function toMediaPart(part: MediaPart, { quirks, sanitize }: MessageContext): Fields {
  const { url } = part;
  const note =
    url && !url.startsWith("data:") ? formatPlaceholder(part).replace(/\]$/, `: ${url}]`) : undefined;
  return (
    toChatMedia(part, quirks) ?? {
      type: "text",
      text: sanitizeText(sanitize, note ?? formatPlaceholder(part)),
    }
  );
}
