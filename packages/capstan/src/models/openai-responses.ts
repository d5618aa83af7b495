// OpenAI's responses API (`POST /responses`), spoken without a memory at the provider (`store: false`): every request
// carries the whole conversation as a list of items (message, reasoning, function_call, function_call_output, and those of
// the provider's own tools), and what the provider said goes back as it came. Reasoning is readable to the provider only
// in its encrypted form, which has to be asked for; an item of reasoning without it, or with nothing after it, would be
// refused and is left out. `extra` adds to `tools`, `include` and `text`; every other field of it wins.
import {
  type AssistantEntry,
  type AssistantPart,
  type CallPart,
  type Entry,
  type Part,
  type ResultEntry,
  toPlainText,
} from "../history.ts";
import { isRecord, type Json } from "../json.ts";
import type { ModelRequest } from "../model.ts";
import { saysOverflow } from "./openai-responses/failure.ts";
import { responsesFromJson, responsesName, responsesReader } from "./openai-responses/reader.ts";
import { functionSchema, isStrict, responsesToolNames, sentId, toolJson } from "./openai-responses/tools.ts";
import { ownData, type Wire, type WireSettings } from "./wire.ts";

export const openAiResponses: Wire = {
  name: responsesName,
  toRequest,
  reader: responsesReader,
  fromJson: responsesFromJson,
  isOverflow: saysOverflow,
};

type Fields = { readonly [field: string]: Json };
type Item = { readonly [field: string]: unknown };
/** `json`: the entry's items, joined by commas. */
type Written = { readonly json: string; readonly hasReasoning: boolean };

const written = new WeakMap<Entry, Written>();

/** These refuse to be asked for encrypted reasoning. */
const withoutReasoning = /(^|\/)(gpt-3|gpt-4|chatgpt|gpt-5[\w.]*-chat)/i;

function toRequest(request: ModelRequest, settings: WireSettings): string {
  const { instructions, toolChoice } = request;
  const { model, stream, maxOutputTokens, temperature, extra = {} } = settings;
  const { tools: extraTools, include: extraInclude, text: extraText, ...others } = extra;
  const { json: input, hasReasoning } = writtenHistory(request.history);
  const tools = [...request.tools.map(toolJson), ...listOf(extraTools).map((tool) => JSON.stringify(tool))];
  const include = new Set(listOf(extraInclude));
  if ((request.thinking || hasReasoning) && !withoutReasoning.test(model))
    include.add("reasoning.encrypted_content");
  const text = { ...textOf(request), ...(isRecord(extraText) ? extraText : {}) };
  const head = JSON.stringify({
    model,
    stream,
    store: false,
    ...(instructions && { instructions: instructions.toWellFormed() }),
    ...(maxOutputTokens !== undefined && { max_output_tokens: maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(toolChoice !== "auto" && tools.length > 0 && { tool_choice: toolChoice }),
    ...(include.size > 0 && { include: [...include] }),
    ...(Object.keys(text).length > 0 && { text }),
    ...others,
  });
  const toolsJson = tools.length > 0 ? `,"tools":[${tools.join(",")}]` : "";
  const inputJson = "input" in others ? "" : `,"input":[${input}]`;
  return `${head.slice(0, -1)}${toolsJson}${inputJson}}`;
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function textOf({ output }: ModelRequest): Item {
  // The API takes only objects; the instructions ask for the form in any case.
  if (output?.type !== "object") return {};
  const { $schema: _schema, ...schema } = output;
  const strict = isStrict(schema);
  const format = {
    type: "json_schema",
    name: "output",
    schema: strict ? schema : functionSchema(schema),
    strict,
  };
  return { format };
}

function writtenHistory(history: readonly Entry[]): Written {
  const pieces: string[] = [];
  let hasReasoning = false;
  let asked: AssistantEntry | undefined;
  for (const entry of history) {
    if (entry.type === "assistant") asked = entry;
    let piece = written.get(entry);
    if (piece === undefined) {
      const items = itemsOf(entry, asked);
      piece = { json: items.map((item) => JSON.stringify(item)).join(","), hasReasoning: reasons(entry) };
      written.set(entry, piece);
    }
    if (piece.json) pieces.push(piece.json);
    hasReasoning ||= piece.hasReasoning;
  }
  return { json: pieces.join(","), hasReasoning };
}

function reasons(entry: Entry): boolean {
  return entry.type === "assistant" && entry.parts.some((part) => reasoningItem(part) !== undefined);
}

function itemsOf(entry: Entry, asked: AssistantEntry | undefined): readonly Item[] {
  switch (entry.type) {
    case "user":
      return [{ type: "message", role: "user", content: contentOf(entry.content) }];
    case "summary": {
      const content = `Summary of the conversation so far:\n${entry.text.toWellFormed()}`;
      return [{ type: "message", role: "user", content }];
    }
    case "assistant":
      return assistantItems(entry);
    case "result":
      return [resultItem(entry, asked)];
  }
}

function contentOf(content: string | readonly Part[]): string | readonly Item[] {
  return typeof content === "string" ? content.toWellFormed() : content.map(inputPart);
}

function inputPart(part: Part): Item {
  const note = { type: "input_text", text: toPlainText([part]).toWellFormed() };
  if (part.type === "text") return note;
  const { mediaType, data } = part;
  const inline = data === undefined || data.startsWith("data:") ? data : `data:${mediaType};base64,${data}`;
  const url = inline ?? part.url;
  if (url === undefined) return note;
  if (part.type === "image")
    return /^image\/(png|jpe?g|gif|webp|\*)$/.test(mediaType)
      ? { type: "input_image", image_url: url, detail: "auto" }
      : note;
  if (/^(audio|video)\//.test(mediaType)) return note;
  return inline === undefined
    ? { type: "input_file", file_url: url }
    : { type: "input_file", filename: `file.${extensionOf(mediaType)}`, file_data: inline };
}

/** The API tells the kind of a file by its name. */
function extensionOf(mediaType: string): string {
  const known: Fields = { "text/plain": "txt", "text/markdown": "md", "text/javascript": "js" };
  const subtype = /\/([\w.+-]+)/.exec(mediaType)?.[1] ?? "bin";
  return String(known[mediaType] ?? subtype.split("+").at(-1));
}

function assistantItems(entry: AssistantEntry): readonly Item[] {
  // An id without the reasoning that belongs to it is refused, so without the one the others go too.
  const isWhole = entry.parts.every((part) => reasoningItem(part) === undefined || replayable(part));
  const items: Item[] = [];
  for (const part of entry.parts) {
    const item = partItem(part, entry, isWhole);
    if (item) items.push(item);
  }
  while (items.at(-1)?.type === "reasoning") items.pop();
  return items;
}

function partItem(part: AssistantPart, entry: AssistantEntry, isWhole: boolean): Item | undefined {
  switch (part.type) {
    case "text":
      return messageItem(part.text.toWellFormed(), withId(ownData(responsesName, part.opaque), isWhole));
    case "reasoning":
      return isWhole && replayable(part) ? reasoningItem(part) : undefined;
    case "call": {
      const known = withId(ownData(responsesName, part.opaque), isWhole && !isTwin(part, entry));
      const { id, providerId: _providerId, name, input, raw } = part;
      return {
        type: "function_call",
        call_id: callIdOf(entry, id),
        name: responsesToolNames.sent(name),
        arguments: raw ?? JSON.stringify(input),
        ...known,
      };
    }
    case "opaque":
      return recordOf(ownData(responsesName, part.data));
  }
}

function messageItem(text: string, known: Item): Item | undefined {
  if (text === "" && known.content === undefined) return undefined;
  const content = [{ type: "output_text", text, annotations: [] }];
  return { type: "message", role: "assistant", content, ...known };
}

function withId(data: Json | undefined, keepsId: boolean): Item {
  const { id, ...rest } = recordOf(data) ?? {};
  return { ...rest, ...(keepsId && id !== undefined && { id }) };
}

function reasoningItem(part: AssistantPart): Item | undefined {
  return part.type === "reasoning" ? recordOf(ownData(responsesName, part.opaque)) : undefined;
}

/** Encrypted, or in the open as servers of open models give it. */
function replayable(part: AssistantPart): boolean {
  const item = reasoningItem(part);
  if (!item) return false;
  return (
    typeof item.encrypted_content === "string" || (Array.isArray(item.content) && item.content.length > 0)
  );
}

function recordOf(data: Json | undefined): Item | undefined {
  return isRecord(data) ? data : undefined;
}

function resultItem({ callId, content, error }: ResultEntry, asked: AssistantEntry | undefined): Item {
  const call = asked?.parts.find((part): part is CallPart => part.type === "call" && part.id === callId);
  const { caller } = recordOf(ownData(responsesName, call?.opaque)) ?? {};
  const isText = typeof content === "string" || content.every((part) => part.type === "text");
  const text = isText ? toPlainText(content).toWellFormed() || (error?.message ?? "") : undefined;
  return {
    type: "function_call_output",
    call_id: asked ? callIdOf(asked, callId) : sentId(callId),
    output: text ?? contentOf(content),
    ...(caller !== undefined && { caller }),
  };
}

/** The provider's id; our own where the provider gave one id to two calls of a message. */
function callIdOf(entry: AssistantEntry, callId: string): string {
  const call = entry.parts.find((part): part is CallPart => part.type === "call" && part.id === callId);
  return sentId(call?.providerId && !isTwin(call, entry) ? call.providerId : callId);
}

function isTwin(call: CallPart, { parts }: AssistantEntry): boolean {
  const providerId = call.providerId ?? call.id;
  const first = parts.find((part) => part.type === "call" && (part.providerId ?? part.id) === providerId);
  return first !== call;
}
