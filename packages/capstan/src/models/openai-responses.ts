// OpenAI's responses API (`POST /responses`), used without server-side state (`store: false`): every request carries
// the whole conversation as a list of items (message, reasoning, function_call, function_call_output, and items of the
// provider's own tools), and the provider's items are sent back unchanged. The provider reads reasoning only in its
// encrypted form, which must be requested; a reasoning item without it, or with no item after it, would be rejected and
// is dropped. `extra` adds to `tools`, `include` and `text`; its other fields override ours.

import { isRecord, type Json } from "../base/json.ts";
import {
  type AssistantEntry,
  type AssistantPart,
  type CallPart,
  type Entry,
  type ResultEntry,
  toPlainText,
} from "../kernel/history.ts";
import type { ModelRequest } from "../kernel/model.ts";
import { withDistinctCallIds } from "./distinct-call-ids.ts";
import { toClientResult } from "./openai-responses/client-calls.ts";
import { isResponsesOverflow } from "./openai-responses/failure.ts";
import { listHostedIncludes, toHostedChoice, toHostedDefinition } from "./openai-responses/hosted.ts";
import { toGeneratedImage, toInputContent, toInputMedia } from "./openai-responses/media.ts";
import { createResponsesReader, parseResponse, responsesName } from "./openai-responses/reader.ts";
import { buildResponsesSettings } from "./openai-responses/settings.ts";
import {
  isStrict,
  responsesToolNames,
  serializeFunctionTool,
  toFunctionSchema,
  toWireId,
} from "./openai-responses/tools.ts";
import { getOwnData, toList, type Wire, type WireSettings } from "./wire.ts";
import { describeMedia } from "./wire-media.ts";

export const openAiResponses: Wire = {
  name: responsesName,
  toRequest,
  reader: createResponsesReader,
  fromJson: parseResponse,
  isOverflow: isResponsesOverflow,
  acceptsMedia: (part) => toInputMedia(part) !== undefined,
};

type Item = { readonly [field: string]: unknown };
/** `json` holds the entry's items, joined by commas. */
type SerializedEntry = { readonly json: string; readonly hasReasoning: boolean };

const serialized = new WeakMap<Entry, SerializedEntry>();

function toRequest(request: ModelRequest, settings: WireSettings): string {
  const { instructions, toolChoice } = request;
  const { model, stream, extra = {} } = settings;
  const { tools: extraTools, include: extraInclude, text: extraText, ...others } = extra;
  const { json: input, hasReasoning } = serializeHistory(withDistinctCallIds(request.history));
  const tools = [
    ...request.tools.map(serializeFunctionTool),
    ...(request.hosted ?? []).map((tool) => JSON.stringify(toHostedDefinition(tool, model))),
    ...toList(extraTools).map((tool) => JSON.stringify(tool)),
  ];
  const { fields, include: ownInclude } = buildResponsesSettings(request, settings, hasReasoning);
  const include = new Set([...toList(extraInclude), ...ownInclude]);
  if (request.hosted) for (const field of listHostedIncludes(request.hosted)) include.add(field);
  const text = { ...buildTextFormat(request), ...(isRecord(extraText) ? extraText : {}) };
  const head = JSON.stringify({
    model,
    stream,
    store: false,
    ...(instructions && { instructions: instructions.toWellFormed() }),
    ...fields,
    ...(toolChoice !== "auto" && tools.length > 0 && { tool_choice: toResponsesChoice(request, model) }),
    ...(include.size > 0 && { include: [...include] }),
    ...(Object.keys(text).length > 0 && { text }),
    ...others,
  });
  const toolsJson = tools.length > 0 ? `,"tools":[${tools.join(",")}]` : "";
  const inputJson = "input" in others ? "" : `,"input":[${input}]`;
  return `${head.slice(0, -1)}${toolsJson}${inputJson}}`;
}

function toResponsesChoice({ toolChoice: choice, hosted }: ModelRequest, model: string): string | Item {
  if (typeof choice === "string") return choice;
  const tool = hosted?.find(({ name }) => name === choice.tool);
  if (tool) return toHostedChoice(tool, model);
  return { type: "function", name: responsesToolNames.encodeName(choice.tool) };
}

function buildTextFormat({ output }: ModelRequest): Item {
  // The API accepts only objects; the instructions describe the schema in any case.
  if (output?.type !== "object") return {};
  const { $schema: _schema, ...schema } = output;
  const strict = isStrict(schema);
  const format = {
    type: "json_schema",
    name: "output",
    schema: strict ? schema : toFunctionSchema(schema),
    strict,
  };
  return { format };
}

function serializeHistory(history: readonly Entry[]): SerializedEntry {
  const pieces: string[] = [];
  let hasReasoning = false;
  let lastAssistant: AssistantEntry | undefined;
  for (const entry of history) {
    if (entry.type === "assistant") lastAssistant = entry;
    let piece = serialized.get(entry);
    if (piece === undefined) {
      const items = toItems(entry, lastAssistant);
      piece = {
        json: items.map((item) => JSON.stringify(item)).join(","),
        hasReasoning: hasReasoningItem(entry),
      };
      serialized.set(entry, piece);
    }
    if (piece.json) pieces.push(piece.json);
    hasReasoning ||= piece.hasReasoning;
  }
  return { json: pieces.join(","), hasReasoning };
}

function hasReasoningItem(entry: Entry): boolean {
  return entry.type === "assistant" && entry.parts.some((part) => getReasoningItem(part) !== undefined);
}

function toItems(entry: Entry, lastAssistant: AssistantEntry | undefined): readonly Item[] {
  switch (entry.type) {
    case "user":
      return [{ type: "message", role: "user", content: toInputContent(entry.content) }];
    case "summary": {
      const content = `Summary of the conversation so far:\n${entry.text.toWellFormed()}`;
      return [{ type: "message", role: "user", content }];
    }
    case "assistant":
      return toAssistantItems(entry);
    case "result":
      return toResultItems(entry, lastAssistant);
  }
}

function toAssistantItems(entry: AssistantEntry): readonly Item[] {
  // The API rejects an item id without its reasoning item, so if one reasoning item is missing, all ids are dropped.
  const isComplete = entry.parts.every((part) => getReasoningItem(part) === undefined || canReplay(part));
  const items: Item[] = [];
  for (const part of entry.parts) {
    const item = toPartItem(part, entry, isComplete);
    if (item) items.push(item);
  }
  while (items.at(-1)?.type === "reasoning") items.pop();
  return items;
}

function toPartItem(part: AssistantPart, entry: AssistantEntry, isComplete: boolean): Item | undefined {
  switch (part.type) {
    case "text":
      return toMessageItem(
        part.text.toWellFormed(),
        restoreData(getOwnData(responsesName, part.opaque), isComplete),
      );
    case "reasoning":
      return isComplete && canReplay(part) ? getReasoningItem(part) : undefined;
    case "call": {
      const own = toRecord(getOwnData(responsesName, part.opaque));
      if (own?.type !== undefined) return own; // not a call of a function: kept as a whole
      const ownFields = restoreData(
        getOwnData(responsesName, part.opaque),
        isComplete && !isDuplicateId(part, entry),
      );
      const { id, providerId: _providerId, name, input, raw } = part;
      return {
        type: "function_call",
        call_id: getCallId(entry, id),
        name: responsesToolNames.encodeName(name),
        arguments: raw ?? JSON.stringify(input),
        ...ownFields,
      };
    }
    case "opaque":
      return toRecord(getOwnData(responsesName, part.data));
    case "media":
      return toGeneratedImage(responsesName, part) ?? toMessageItem(describeMedia(part, entry), {});
  }
}

function toMessageItem(text: string, ownFields: Item): Item | undefined {
  if (text === "" && ownFields.content === undefined) return undefined;
  const content = [{ type: "output_text", text, annotations: [] }];
  return { type: "message", role: "assistant", content, ...ownFields };
}

function restoreData(data: Json | undefined, keepsId: boolean): Item {
  const { id, call_id: _callId, ...rest } = toRecord(data) ?? {};
  return { ...rest, ...(keepsId && id !== undefined && { id }) };
}

function getReasoningItem(part: AssistantPart): Item | undefined {
  return part.type === "reasoning" ? toRecord(getOwnData(responsesName, part.opaque)) : undefined;
}

/** True for encrypted reasoning, and for plain text reasoning from servers of open models. */
function canReplay(part: AssistantPart): boolean {
  const item = getReasoningItem(part);
  if (!item) return false;
  return (
    typeof item.encrypted_content === "string" || (Array.isArray(item.content) && item.content.length > 0)
  );
}

function toRecord(data: Json | undefined): Item | undefined {
  return isRecord(data) ? data : undefined;
}

function toResultItems(entry: ResultEntry, lastAssistant: AssistantEntry | undefined): readonly Item[] {
  const { callId, content, error } = entry;
  const call = lastAssistant?.parts.find(
    (part): part is CallPart => part.type === "call" && part.id === callId,
  );
  const own = toRecord(getOwnData(responsesName, call?.opaque)) ?? {};
  const answer = own.type === undefined ? undefined : toClientResult(own, entry);
  if (answer) return answer;
  const { caller } = own;
  const isText = typeof content === "string" || content.every((part) => part.type === "text");
  const text = isText ? toPlainText(content).toWellFormed() || (error?.message ?? "") : undefined;
  const item = {
    type: "function_call_output",
    call_id: lastAssistant ? getCallId(lastAssistant, callId) : toWireId(callId),
    output: text ?? toInputContent(content),
    ...(caller !== undefined && { caller }),
  };
  return [item];
}

/** Returns the provider's id, or ours if the provider used one id for two calls of a message. */
function getCallId(entry: AssistantEntry, callId: string): string {
  const call = entry.parts.find((part): part is CallPart => part.type === "call" && part.id === callId);
  if (!call || isDuplicateId(call, entry)) return toWireId(callId);
  // A gateway that issued a long id, with a signature in it, gets it back unchanged.
  const { call_id: ownId } = toRecord(getOwnData(responsesName, call.opaque)) ?? {};
  return typeof ownId === "string" ? ownId : toWireId(call.providerId || callId);
}

function isDuplicateId(call: CallPart, { parts }: AssistantEntry): boolean {
  const providerId = call.providerId ?? call.id;
  const first = parts.find((part) => part.type === "call" && (part.providerId ?? part.id) === providerId);
  return first !== call;
}
