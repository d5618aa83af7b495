import type { AssistantEntry, CallPart, Entry, ResultEntry } from "../../history.ts";
import { isRecord, type Json } from "../../json.ts";
import type { ModelRequest, ToolSpec } from "../../model.ts";
import type { WireSettings } from "../wire.ts";
import {
  assistantBlocks,
  containerOf,
  contentBlocks,
  isPaused,
  resultBlock,
  textBlock,
  written,
} from "./content.ts";
import { anthropicToolNames } from "./names.ts";
import { outputSchema, toolInputSchema } from "./tool-schema.ts";

const defaultMaxTokens = 8192;
const cacheMark = ',"cache_control":{"type":"ephemeral"}}';
/** The API wants a message, a user's message first, and from newer models none of the assistant's last. */
const filler = written(textBlock("Continue."));

/** Blocks of one entry as JSON, joined by commas. `ids` are those of its calls at the provider. */
type Piece = { readonly json: string; readonly ids: ReadonlyMap<string, string> };
type Message = { readonly role: "user" | "assistant"; results: string[]; blocks: string[] };

const pieces = new WeakMap<Entry, Piece>();
const tools = new WeakMap<ToolSpec, string>();

export function anthropicRequest(request: ModelRequest, settings: WireSettings): string {
  const { tools: extraTools, system: _system, messages: _messages, ...extra } = settings.extra ?? {};
  const marks = !("cache_control" in extra);
  const messages = messagesOf(request.history);
  const offered = toolsOf(request, recordsIn(extraTools), marks);
  const system = request.instructions.trim() === "" ? "" : written(textBlock(request.instructions));
  const head = written({
    ...headOf(request, settings, extra),
    ...containerIn(request.history, extraTools),
    ...(offered !== "" && { tool_choice: toolChoiceOf(request, extra) }),
    ...(settings.stream && { stream: true }),
  });
  return [
    head.slice(0, -1),
    system && `,"system":[${marks ? marked(system) : system}]`,
    offered && `,"tools":[${offered}]`,
    ',"messages":[',
    ...textsOf(messages, marks),
    "]}]}",
  ].join("");
}

type Extra = { readonly [field: string]: Json };

function headOf(request: ModelRequest, settings: WireSettings, extra: Extra): Extra {
  const { output_config: config, thinking, tool_choice: _choice, ...rest } = extra;
  const thinks = isRecord(thinking) && thinking.type !== "disabled";
  const may = !thinks || mayThink(request, thinking);
  const schema = request.output && outputSchema(request.output);
  const format = schema && { format: { type: "json_schema", schema: schema as Json } };
  const budget =
    isRecord(thinking) && typeof thinking.budget_tokens === "number" && may ? thinking.budget_tokens : 0;
  const most = settings.maxOutputTokens ?? defaultMaxTokens;
  return {
    model: settings.model,
    // The budget counts towards the limit and has to stay below it.
    max_tokens: most > budget ? most : budget + most,
    // Thinking models take no other temperature than their own.
    ...(settings.temperature !== undefined && !(thinks && may) && { temperature: settings.temperature }),
    ...(thinking !== undefined && may && { thinking }),
    ...(config !== undefined && !isRecord(config)
      ? { output_config: config }
      : (format || config) && { output_config: { ...format, ...config } }),
    ...rest,
  };
}

/**
 * Whether the API accepts thinking here: not while a tool is forced, and a set budget not in the middle of a turn whose
 * message begins without thinking, as that of another provider does.
 */
function mayThink({ history, toolChoice }: ModelRequest, thinking: Extra): boolean {
  if (toolChoice === "required") return false;
  if (thinking.type !== "enabled" || history.at(-1)?.type !== "result") return true;
  const last = history.findLast((entry) => entry.type === "assistant");
  return last === undefined || /^\{"type":"(?:redacted_)?thinking"/.test(assistantPiece(last).json);
}

function toolChoiceOf({ toolChoice, tools: specs, history }: ModelRequest, extra: Extra): Json {
  if (toolChoice === "required") return { type: "any" };
  // Without tools of our own, "none" forbids the server's tools only where ours were on offer before.
  const forbids =
    toolChoice === "none" && (specs.length > 0 || history.some(({ type }) => type === "result"));
  return forbids ? { type: "none" } : (extra.tool_choice ?? { type: "auto" });
}

/** Inside a turn, the container of the code that waits for the results. */
function containerIn(history: readonly Entry[], extraTools: Json | undefined): Extra {
  if (extraTools === undefined || history.at(-1)?.type !== "result") return {};
  const last = history.findLast((entry) => entry.type === "assistant");
  const container = last && containerOf(last);
  return container === undefined ? {} : { container };
}

function toolsOf(request: ModelRequest, extra: readonly Extra[], marks: boolean): string {
  const replaced = new Set(extra.map(({ name }) => name));
  const specs = request.tools.filter(({ name }) => !replaced.has(anthropicToolNames.sent(name)));
  const own = specs.map(toolJson);
  const last = own.at(-1);
  if (last !== undefined && marks && !extra.some((tool) => "cache_control" in tool))
    own[own.length - 1] = marked(last);
  const all = [...own, ...extra.map(written)];
  // A history with calls is only accepted beside tools.
  return (all.length > 0 ? all : calledIn(request.history).map(stubJson)).join(",");
}

function toolJson(spec: ToolSpec): string {
  let json = tools.get(spec);
  if (json === undefined) {
    const { name, description, input } = spec;
    json = written({
      name: anthropicToolNames.offered(name),
      description,
      input_schema: toolInputSchema(input),
    });
    tools.set(spec, json);
  }
  return json;
}

function calledIn(history: readonly Entry[]): string[] {
  const names = new Set<string>();
  for (const entry of history) if (entry.type === "result") names.add(anthropicToolNames.sent(entry.name));
  return [...names];
}

function stubJson(name: string): string {
  return written({ name, description: "Not available any more.", input_schema: { type: "object" } });
}

function messagesOf(history: readonly Entry[]): Message[] {
  const messages: Message[] = [];
  const ids = new Map<string, string>();
  const used = new Set<string>();
  const at = (role: Message["role"]): Message => {
    const last = messages.at(-1);
    if (last?.role === role) return last;
    const next: Message = { role, results: [], blocks: [] };
    messages.push(next);
    return next;
  };
  for (const entry of history) {
    if (entry.type === "assistant") {
      const piece = withFreshIds(entry, used);
      for (const [callId, id] of piece.ids) {
        ids.set(callId, id);
        used.add(id);
      }
      if (piece.json) at("assistant").blocks.push(piece.json);
    } else if (entry.type === "result") {
      at("user").results.push(resultJson(entry, ids.get(entry.callId) ?? plainId(entry.callId)));
    } else {
      const { json } = userPiece(entry);
      if (json) at("user").blocks.push(json);
    }
  }
  if (messages[0]?.role === "assistant") messages.unshift({ role: "user", results: [], blocks: [filler] });
  const last = history.at(-1);
  if (messages.at(-1)?.role !== "user" && !(last?.type === "assistant" && isPaused(last)))
    at("user").blocks.push(filler);
  return messages;
}

/** The texts to be joined: once, because a history is long. */
function textsOf(messages: readonly Message[], marks: boolean): string[] {
  const lastUsers = messages.filter(({ role }) => role === "user").slice(-2);
  const texts: string[] = [];
  for (const message of messages) {
    texts.push(`${texts.length > 0 ? "]}," : ""}{"role":"${message.role}","content":[`);
    const first = texts.length;
    for (const block of message.results.concat(message.blocks))
      texts.push(texts.length > first ? "," : "", block);
    if (marks && lastUsers.includes(message)) texts.push(marked(texts.pop() ?? ""));
  }
  return texts;
}

/** The JSON of objects with a cache point on the last one, without touching what is cached of it here. */
function marked(json: string): string {
  return json.slice(0, -1) + cacheMark;
}

function userPiece(entry: Exclude<Entry, AssistantEntry | ResultEntry>): Piece {
  return cached(entry, () => {
    const content =
      entry.type === "summary" ? `Summary of the conversation so far:\n${entry.text}` : entry.content;
    return { json: contentBlocks(content).map(written).join(","), ids: new Map() };
  });
}

function assistantPiece(entry: AssistantEntry): Piece {
  return cached(entry, () => assistantWith(entry, ({ id, providerId }) => plainId(providerId ?? id)));
}

/** The ids of calls have to be unique in a request, also when a provider said one twice. */
function withFreshIds(entry: AssistantEntry, used: ReadonlySet<string>): Piece {
  const piece = assistantPiece(entry);
  const ids = [...piece.ids.values()];
  if (ids.every((id) => !used.has(id)) && new Set(ids).size === ids.length) return piece;
  const taken = new Set(used);
  return assistantWith(entry, ({ id, providerId }) => {
    const wanted = plainId(providerId ?? id);
    let fresh = taken.has(wanted) ? plainId(id) : wanted;
    for (let count = 2; taken.has(fresh); count++) fresh = `${plainId(id)}_${count}`;
    taken.add(fresh);
    return fresh;
  });
}

function assistantWith(entry: AssistantEntry, idOf: (call: CallPart) => string): Piece {
  const ids = new Map<string, string>();
  const blocks = assistantBlocks(entry, (call) => {
    const id = idOf(call);
    ids.set(call.id, id);
    return id;
  });
  return { json: blocks.map(written).join(","), ids };
}

function resultJson(entry: ResultEntry, id: string): string {
  const piece = cached(entry, () => ({
    json: written(resultBlock(entry, id)),
    ids: new Map([[entry.callId, id]]),
  }));
  return piece.ids.get(entry.callId) === id ? piece.json : written(resultBlock(entry, id));
}

function cached(entry: Entry, write: () => Piece): Piece {
  let piece = pieces.get(entry);
  if (!piece) {
    piece = write();
    pieces.set(entry, piece);
  }
  return piece;
}

function plainId(id: string): string {
  return id.replace(/[^\w-]/g, "_") || "call";
}

function recordsIn(value: Json | undefined): readonly Extra[] {
  return Array.isArray(value) ? value.filter((member): member is Extra => isRecord(member)) : [];
}
