import { isRecord, type Json } from "../../base/json.ts";
import type { AssistantEntry, CallPart, Entry, ResultEntry } from "../../kernel/history.ts";
import type { ModelRequest, ToolSpec } from "../../kernel/model.ts";
import { filterRecords, getOwnId, isForcedChoice, type WireSettings } from "../wire.ts";
import {
  anthropicName,
  anthropicToolNames,
  findContainer,
  findLiveContainer,
  isPaused,
  resendsBoundThinking,
  sanitizeId,
  stringify,
  toAssistantBlocks,
  toContentBlocks,
  toResultBlock,
  toTextBlock,
} from "./content.ts";
import { buildHostedFields, listBetas } from "./hosted.ts";
import { serializeNativeTool } from "./native-tools.ts";
import { getDefaultMaxTokens, raiseMaxTokens } from "./output-limit.ts";
import { buildForcedChoice, buildSettingFields } from "./settings.ts";
import { toOutputSchema, toToolInputSchema } from "./tool-schema.ts";

/** The API requires the first message to be the user's, and newer models reject a trailing assistant message. */
const placeholder = stringify(toTextBlock("Continue."));

/** The blocks of one entry as JSON, joined by commas. `ids` maps our call ids to the provider's. */
type Piece = { readonly json: string; readonly ids: ReadonlyMap<string, string> };
type Message = { readonly role: "user" | "assistant"; results: string[]; blocks: string[] };

const serializedEntries = new WeakMap<Entry, Piece>();
const serializedTools = new WeakMap<ToolSpec, string>();

/** `fields` replaces fields of the body; undefined removes one. */
export function buildAnthropicRequest(
  request: ModelRequest,
  settings: WireSettings,
  fields: CloudFields = {},
): string {
  const { tools: extraTools, system: _system, messages: _messages, ...extra } = settings.extra ?? {};
  const addCachePoint = createCacheMarker("cache_control" in extra ? "off" : settings.cache);
  const messages = serializeMessages(buildMessages(request.history), addCachePoint);
  const hosted = request.hosted && buildHostedFields(request.hosted, settings.model, "model" in fields);
  const others = [...(hosted?.tools ?? []), ...(filterRecords(extraTools) as readonly Extra[])];
  const model = "model" in fields ? undefined : settings.model;
  const toolsJson = serializeTools(request, { extra: others, model }, addCachePoint);
  const system = request.instructions.trim() === "" ? "" : stringify(toTextBlock(request.instructions));
  const inputCharacters = messages.reduce((sum, text) => sum + text.length, system.length + toolsJson.length);
  const resendsThinking = !("model" in fields) && resendsBoundThinking(request.history, settings.model);
  const head = stringify({
    ...buildHead(request, settings, { extra, inputCharacters, resendsThinking }),
    ...buildContainer(request, settings, extraTools !== undefined),
    ...(hosted && hosted.servers.length > 0 && { mcp_servers: hosted.servers }),
    ...(toolsJson !== "" && { tool_choice: buildToolChoice(request, settings) }),
    ...(settings.stream && { stream: true }),
    ...fields,
  });
  return [
    head.slice(0, -1),
    system && `,"system":[${addCachePoint(system)}]`,
    toolsJson && `,"tools":[${toolsJson}]`,
    ',"messages":[',
    ...messages,
    "]}]}",
  ].join("");
}

/** A reference to a file in a request; a quote in a text would be escaped. */
const fileSource = '"source":{"type":"file"';
/** The version of the files API. */
export const filesBeta = "files-api-2025-04-14";

/** Returns the header of the beta features that a request uses. */
export function buildBetaHeaders(
  { hosted = [], history }: Pick<ModelRequest, "hosted" | "history">,
  model: string,
  body: string,
): Record<string, string> {
  const betas = hosted.length > 0 ? [...listBetas(hosted, model)] : [];
  if (body.includes(fileSource)) betas.push(filesBeta);
  if (resendsBoundThinking(history, model)) betas.push("thinking-binding-controls-2026-08-01");
  return betas.length > 0 ? { "anthropic-beta": [...new Set(betas)].join(",") } : {};
}

/** Fields by which the API of a cloud differs. */
export type CloudFields = { readonly [field: string]: Json | undefined };

type Extra = { readonly [field: string]: Json };

type HeadContext = {
  readonly extra: Extra;
  readonly inputCharacters: number;
  readonly resendsThinking: boolean;
};

function buildHead(
  request: ModelRequest,
  settings: WireSettings,
  { extra, inputCharacters, resendsThinking }: HeadContext,
): Extra {
  const { output_config: extraOutput, thinking, tool_choice: _choice, ...rest } = extra;
  const maxTokens = chooseMaxTokens(request, settings, inputCharacters);
  const { output_config: output, ...fields }: ReturnType<typeof buildSettingFields> =
    resendsThinking || hasSettings(request, settings, thinking)
      ? buildSettingFields(request, settings, { maxTokens, thinking, resendsThinking })
      : { max_tokens: maxTokens };
  const schema = request.output && toOutputSchema(request.output);
  const format = schema && { format: { type: "json_schema", schema: schema as Json } };
  return {
    model: settings.model,
    ...fields,
    ...(extraOutput !== undefined && !isRecord(extraOutput)
      ? { output_config: extraOutput }
      : (output || format || extraOutput) && { output_config: { ...output, ...format, ...extraOutput } }),
    ...rest,
  };
}

const settingNames = ["effort", "temperature", "topP", "stop", "serviceTier"] as const;

/** Whether a request asks for anything that depends on what the model accepts. Most do not. */
function hasSettings(
  request: ModelRequest,
  settings: WireSettings,
  extraThinking: Json | undefined,
): boolean {
  return (
    request.thinking ||
    extraThinking !== undefined ||
    isForcedChoice(request.toolChoice) ||
    settingNames.some((name) => settings[name] !== undefined)
  );
}

function chooseMaxTokens(request: ModelRequest, settings: WireSettings, inputCharacters: number): number {
  const byDefault = getDefaultMaxTokens(settings, inputCharacters);
  if (request.maxOutputTokens === undefined) return settings.maxOutputTokens ?? byDefault;
  // The request wants more room than usual.
  return raiseMaxTokens(settings.model, byDefault, settings.maxOutputTokens ?? request.maxOutputTokens);
}

function buildToolChoice(request: ModelRequest, settings: WireSettings): Json {
  const choice = resolveToolChoice(request, settings);
  const isSerial = settings.parallelToolCalls === false && isRecord(choice) && choice.type !== "none";
  return isSerial ? { disable_parallel_tool_use: true, ...(choice as Extra) } : choice;
}

function resolveToolChoice(request: ModelRequest, settings: WireSettings): Json {
  const { toolChoice, tools: specs, history } = request;
  const forced = isForcedChoice(toolChoice) ? buildForcedChoice(request, settings) : undefined;
  // Without our own tools, "none" disables server tools only if ours were offered before.
  const isForbidden =
    toolChoice === "none" && (specs.length > 0 || history.some(({ type }) => type === "result"));
  return forced ?? (isForbidden ? { type: "none" } : (settings.extra?.tool_choice ?? { type: "auto" }));
}

/**
 * Names the container of the code that waits for the results or is paused. With hosted code execution, later turns use it
 * too while it lives, because it has their files.
 */
function buildContainer(
  { history, hosted }: ModelRequest,
  { now }: WireSettings,
  hasExtraTools: boolean,
): Extra {
  if (!hosted && !hasExtraTools) return {};
  const end = history.at(-1);
  const isWithinTurn = end?.type === "result" || (end?.type === "assistant" && isPaused(end));
  const last = isWithinTurn ? history.findLast((entry) => entry.type === "assistant") : undefined;
  const isReusable = hosted?.some(({ kind }) => kind === "codeExecution") && now !== undefined;
  const container =
    (last && findContainer(last)) ?? (isReusable ? findLiveContainer(history, now) : undefined);
  return container === undefined ? {} : { container };
}

type ToolsContext = { readonly extra: readonly Extra[]; readonly model: string | undefined };

/** `model` is undefined for a cloud. */
function serializeTools(
  request: ModelRequest,
  { extra, model }: ToolsContext,
  addCachePoint: CacheMarker,
): string {
  const replaced = new Set(extra.map(({ name }) => name));
  const specs = request.tools.filter(({ name }) => !replaced.has(anthropicToolNames.encodeName(name)));
  const own = specs.map((spec) => serializeNativeTool(spec, model) ?? serializeToolSpec(spec));
  // A deferred tool is not part of the prompt: the API rejects a cache point there.
  const last = specs.findLastIndex(({ defer }) => !defer);
  if (last >= 0 && !extra.some((tool) => "cache_control" in tool)) own[last] = addCachePoint(own[last] ?? "");
  const all = [...own, ...extra.map(stringify)];
  // The API accepts a history with calls only if tools are defined.
  return (all.length > 0 ? all : getCalledTools(request.history).map(serializeStub)).join(",");
}

function serializeToolSpec(spec: ToolSpec): string {
  let json = serializedTools.get(spec);
  if (json === undefined) {
    const { name, description, input, defer } = spec;
    json = stringify({
      name: anthropicToolNames.registerName(name),
      description,
      input_schema: toToolInputSchema(input),
      ...(defer && { defer_loading: true }),
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
function serializeMessages(messages: readonly Message[], addCachePoint: CacheMarker): string[] {
  const lastUsers = messages.filter(({ role }) => role === "user").slice(-2);
  const texts: string[] = [];
  for (const message of messages) {
    texts.push(`${texts.length > 0 ? "]}," : ""}{"role":"${message.role}","content":[`);
    const first = texts.length;
    for (const block of message.results.concat(message.blocks))
      texts.push(texts.length > first ? "," : "", block);
    if (lastUsers.includes(message)) texts.push(addCachePoint(texts.pop() ?? ""));
  }
  return texts;
}

/** Adds a cache point to the last object of a JSON text, without changing the cached serialization. */
type CacheMarker = (json: string) => string;

function createCacheMarker(cache: WireSettings["cache"]): CacheMarker {
  if (cache === "off") return (json) => json;
  const ttl = cache === "long" ? ',"ttl":"1h"' : "";
  return (json) => `${json.slice(0, -1)},"cache_control":{"type":"ephemeral"${ttl}}}`;
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
