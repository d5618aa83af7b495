import type { AssistantEntry, CallPart, Entry, ResultEntry } from "../../history.ts";
import { isRecord, type Json } from "../../json.ts";
import type { ModelRequest, ToolSpec } from "../../model.ts";
import { filterRecords, getOwnId, type WireSettings } from "../wire.ts";
import {
  anthropicName,
  anthropicToolNames,
  findContainer,
  isPaused,
  sanitizeId,
  stringify,
  toAssistantBlocks,
  toContentBlocks,
  toResultBlock,
  toTextBlock,
} from "./content.ts";
import { getDefaultMaxTokens, raiseMaxTokens } from "./output-limit.ts";
import { toOutputSchema, toToolInputSchema } from "./tool-schema.ts";

const cachePoint = ',"cache_control":{"type":"ephemeral"}}';
/** The API requires the first message to be the user's, and newer models reject a trailing assistant message. */
const placeholder = stringify(toTextBlock("Continue."));

/** The blocks of one entry as JSON, joined by commas. `ids` maps our call ids to the provider's. */
type Piece = { readonly json: string; readonly ids: ReadonlyMap<string, string> };
type Message = { readonly role: "user" | "assistant"; results: string[]; blocks: string[] };

const serializedEntries = new WeakMap<Entry, Piece>();
const serializedTools = new WeakMap<ToolSpec, string>();

export function buildAnthropicRequest(request: ModelRequest, settings: WireSettings): string {
  const { tools: extraTools, system: _system, messages: _messages, ...extra } = settings.extra ?? {};
  const usesCachePoints = !("cache_control" in extra);
  const messages = serializeMessages(buildMessages(request.history), usesCachePoints);
  const toolsJson = serializeTools(request, filterRecords(extraTools) as readonly Extra[], usesCachePoints);
  const system = request.instructions.trim() === "" ? "" : stringify(toTextBlock(request.instructions));
  const inputCharacters = messages.reduce((sum, text) => sum + text.length, system.length + toolsJson.length);
  const head = stringify({
    ...buildHead(request, settings, { extra, inputCharacters }),
    ...buildContainer(request.history, extraTools),
    ...(toolsJson !== "" && { tool_choice: resolveToolChoice(request, extra) }),
    ...(settings.stream && { stream: true }),
  });
  return [
    head.slice(0, -1),
    system && `,"system":[${usesCachePoints ? addCachePoint(system) : system}]`,
    toolsJson && `,"tools":[${toolsJson}]`,
    ',"messages":[',
    ...messages,
    "]}]}",
  ].join("");
}

type Extra = { readonly [field: string]: Json };

function buildHead(
  request: ModelRequest,
  settings: WireSettings,
  { extra, inputCharacters }: { readonly extra: Extra; readonly inputCharacters: number },
): Extra {
  const { output_config: config, thinking, tool_choice: _choice, ...rest } = extra;
  const wantsThinking = isRecord(thinking) && thinking.type !== "disabled";
  const isThinkingAllowed = !wantsThinking || canThink(request, thinking);
  const schema = request.output && toOutputSchema(request.output);
  const format = schema && { format: { type: "json_schema", schema: schema as Json } };
  const budget =
    isRecord(thinking) && typeof thinking.budget_tokens === "number" && isThinkingAllowed
      ? thinking.budget_tokens
      : 0;
  const maxTokens = chooseMaxTokens(request, settings, inputCharacters);
  return {
    model: settings.model,
    // The thinking budget counts towards max_tokens and must be below it.
    max_tokens: maxTokens > budget ? maxTokens : budget + maxTokens,
    // The API rejects a temperature while thinking.
    ...(settings.temperature !== undefined &&
      !(wantsThinking && isThinkingAllowed) && { temperature: settings.temperature }),
    ...(thinking !== undefined && isThinkingAllowed && { thinking }),
    ...(config !== undefined && !isRecord(config)
      ? { output_config: config }
      : (format || config) && { output_config: { ...format, ...config } }),
    ...rest,
  };
}

function chooseMaxTokens(request: ModelRequest, settings: WireSettings, inputCharacters: number): number {
  const byDefault = getDefaultMaxTokens(settings, inputCharacters);
  if (request.maxOutputTokens === undefined) return settings.maxOutputTokens ?? byDefault;
  // The request wants more room than usual.
  return raiseMaxTokens(settings.model, byDefault, settings.maxOutputTokens ?? request.maxOutputTokens);
}

/**
 * Whether the API accepts thinking here: not while a tool call is forced, and a fixed budget not within a turn whose
 * assistant message does not start with thinking, as when another provider wrote it.
 */
function canThink({ history, toolChoice }: ModelRequest, thinking: Extra): boolean {
  if (toolChoice === "required" || typeof toolChoice === "object") return false;
  if (thinking.type !== "enabled" || history.at(-1)?.type !== "result") return true;
  const last = history.findLast((entry) => entry.type === "assistant");
  return last === undefined || /^\{"type":"(?:redacted_)?thinking"/.test(serializeAssistantEntry(last).json);
}

function resolveToolChoice({ toolChoice, tools: specs, history }: ModelRequest, extra: Extra): Json {
  if (toolChoice === "required") return { type: "any" };
  if (typeof toolChoice === "object")
    return { type: "tool", name: anthropicToolNames.encodeName(toolChoice.tool) };
  // Without our own tools, "none" disables server tools only if ours were offered before.
  const isForbidden =
    toolChoice === "none" && (specs.length > 0 || history.some(({ type }) => type === "result"));
  return isForbidden ? { type: "none" } : (extra.tool_choice ?? { type: "auto" });
}

/** Within a turn, names the container of the code that waits for the results or is paused. */
function buildContainer(history: readonly Entry[], extraTools: Json | undefined): Extra {
  const end = history.at(-1);
  const isWithinTurn = end?.type === "result" || (end?.type === "assistant" && isPaused(end));
  if (extraTools === undefined || !isWithinTurn) return {};
  const last = history.findLast((entry) => entry.type === "assistant");
  const container = last && findContainer(last);
  return container === undefined ? {} : { container };
}

function serializeTools(request: ModelRequest, extra: readonly Extra[], usesCachePoints: boolean): string {
  const replaced = new Set(extra.map(({ name }) => name));
  const specs = request.tools.filter(({ name }) => !replaced.has(anthropicToolNames.encodeName(name)));
  const own = specs.map(serializeToolSpec);
  const last = own.at(-1);
  if (last !== undefined && usesCachePoints && !extra.some((tool) => "cache_control" in tool))
    own[own.length - 1] = addCachePoint(last);
  const all = [...own, ...extra.map(stringify)];
  // The API accepts a history with calls only if tools are defined.
  return (all.length > 0 ? all : getCalledTools(request.history).map(serializeStub)).join(",");
}

function serializeToolSpec(spec: ToolSpec): string {
  let json = serializedTools.get(spec);
  if (json === undefined) {
    const { name, description, input } = spec;
    json = stringify({
      name: anthropicToolNames.registerName(name),
      description,
      input_schema: toToolInputSchema(input),
    });
    serializedTools.set(spec, json);
  }
  return json;
}

function getCalledTools(history: readonly Entry[]): string[] {
  const names = new Set<string>();
  for (const entry of history)
    if (entry.type === "result") names.add(anthropicToolNames.encodeName(entry.name));
  return [...names];
}

function serializeStub(name: string): string {
  return stringify({ name, description: "No longer available.", input_schema: { type: "object" } });
}

function buildMessages(history: readonly Entry[]): Message[] {
  const messages: Message[] = [];
  const ids = new Map<string, string>();
  const used = new Set<string>();
  const getMessage = (role: Message["role"]): Message => {
    const last = messages.at(-1);
    if (last?.role === role) return last;
    const next: Message = { role, results: [], blocks: [] };
    messages.push(next);
    return next;
  };
  for (const entry of history) {
    if (entry.type === "assistant") {
      const piece = serializeWithUniqueIds(entry, used);
      for (const [callId, id] of piece.ids) {
        ids.set(callId, id);
        used.add(id);
      }
      if (piece.json) getMessage("assistant").blocks.push(piece.json);
    } else if (entry.type === "result") {
      getMessage("user").results.push(
        serializeResult(entry, ids.get(entry.callId) ?? sanitizeId(entry.callId)),
      );
    } else {
      const { json } = serializeUserEntry(entry);
      if (json) getMessage("user").blocks.push(json);
    }
  }
  if (messages[0]?.role === "assistant")
    messages.unshift({ role: "user", results: [], blocks: [placeholder] });
  const last = history.at(-1);
  if (messages.at(-1)?.role !== "user" && !(last?.type === "assistant" && isPaused(last)))
    getMessage("user").blocks.push(placeholder);
  return messages;
}

/** Returns the texts to join. They are joined once, because a history is long. */
function serializeMessages(messages: readonly Message[], usesCachePoints: boolean): string[] {
  const lastUsers = messages.filter(({ role }) => role === "user").slice(-2);
  const texts: string[] = [];
  for (const message of messages) {
    texts.push(`${texts.length > 0 ? "]}," : ""}{"role":"${message.role}","content":[`);
    const first = texts.length;
    for (const block of message.results.concat(message.blocks))
      texts.push(texts.length > first ? "," : "", block);
    if (usesCachePoints && lastUsers.includes(message)) texts.push(addCachePoint(texts.pop() ?? ""));
  }
  return texts;
}

/** Adds a cache point to the last object of a JSON text, without changing the cached serialization. */
function addCachePoint(json: string): string {
  return json.slice(0, -1) + cachePoint;
}

function serializeUserEntry(entry: Exclude<Entry, AssistantEntry | ResultEntry>): Piece {
  return getCachedPiece(entry, () => {
    const content =
      entry.type === "summary" ? `Summary of the conversation so far:\n${entry.text}` : entry.content;
    return { json: toContentBlocks(content).map(stringify).join(","), ids: new Map() };
  });
}

function serializeAssistantEntry(entry: AssistantEntry): Piece {
  return getCachedPiece(entry, () => serializeAssistantWith(entry, toWireId));
}

/** Call ids must be unique within a request, even if a provider repeated one. */
function serializeWithUniqueIds(entry: AssistantEntry, used: ReadonlySet<string>): Piece {
  const piece = serializeAssistantEntry(entry);
  const ids = [...piece.ids.values()];
  if (ids.every((id) => !used.has(id)) && new Set(ids).size === ids.length) return piece;
  const taken = new Set(used);
  return serializeAssistantWith(entry, (call) => {
    const { id } = call;
    const wanted = toWireId(call);
    let fresh = taken.has(wanted) ? sanitizeId(id) : wanted;
    for (let count = 2; taken.has(fresh); count++) fresh = `${sanitizeId(id)}_${count}`;
    taken.add(fresh);
    return fresh;
  });
}

function serializeAssistantWith(entry: AssistantEntry, getId: (call: CallPart) => string): Piece {
  const ids = new Map<string, string>();
  const blocks = toAssistantBlocks(entry, (call) => {
    const id = getId(call);
    ids.set(call.id, id);
    return id;
  });
  return { json: blocks.map(stringify).join(","), ids };
}

function serializeResult(entry: ResultEntry, id: string): string {
  const piece = getCachedPiece(entry, () => ({
    json: stringify(toResultBlock(entry, id)),
    ids: new Map([[entry.callId, id]]),
  }));
  return piece.ids.get(entry.callId) === id ? piece.json : stringify(toResultBlock(entry, id));
}

function getCachedPiece(entry: Entry, write: () => Piece): Piece {
  let piece = serializedEntries.get(entry);
  if (!piece) {
    piece = write();
    serializedEntries.set(entry, piece);
  }
  return piece;
}

/** A compatible server that issued an unusual id gets it back unchanged. */
function toWireId({ id, providerId, opaque }: CallPart): string {
  return getOwnId(anthropicName, opaque) ?? sanitizeId(providerId ?? id);
}
