import type { DeltaBody, FactBody } from "../event.ts";
import type { AssistantPart, CallPart, Entry, OpaquePart, ReasoningPart, TextPart } from "../history.ts";
import type { Json } from "../json.ts";
import type { Chunk, Finish, Model, ModelRequest, Usage } from "../model.ts";
import type { State } from "../state/state.ts";
import type { CitationFilter } from "./citations/citation-filter.ts";
import { parseArguments } from "./parse-arguments.ts";

const maxNameLength = 128;

type OpenCall = {
  readonly type: "call";
  readonly id: string;
  providerId: string | undefined;
  name: string;
  text: string;
  opaque: Json | undefined;
};
type Mutable<Part> = { -readonly [Field in keyof Part]: Part[Field] };
type OpenPart = Mutable<TextPart> | Mutable<ReasoningPart> | OpenCall | OpaquePart;

/** A message under construction. Any split and any interleaving of the chunks gives the same message. */
export type MessageBuilder = {
  readonly open: OpenPart[];
  readonly calls: Map<number, OpenCall>;
  /** Gives a call its id, unique in the session. */
  readonly nameCall: (providerId: string | undefined, index: number) => string;
  finish: Finish | undefined;
  usage: Usage | undefined;
  /** Characters said so far. */
  size: number;
  hasText: boolean;
};

export function createMessageBuilder(nameCall: MessageBuilder["nameCall"]): MessageBuilder {
  return {
    open: [],
    calls: new Map(),
    nameCall,
    finish: undefined,
    usage: undefined,
    size: 0,
    hasText: false,
  };
}

export function addChunk(message: MessageBuilder, chunk: Chunk): void {
  switch (chunk.type) {
    case "text":
      message.hasText ||= chunk.text.trim() !== "";
      appendText(message, chunk);
      return;
    case "reasoning":
      appendText(message, chunk);
      return;
    case "call_start":
      openCall(message, chunk);
      return;
    case "call_delta":
      message.size += chunk.text.length;
      (message.calls.get(chunk.index) ?? openCall(message, { index: chunk.index, name: "" })).text +=
        chunk.text;
      return;
    case "opaque":
      message.open.push(chunk);
      return;
    case "restart":
      restartMessage(message);
      return;
    case "usage":
      message.usage = chunk.usage;
      return;
    case "finish":
      message.finish = chunk.reason;
  }
}

function restartMessage(message: MessageBuilder): void {
  message.open.length = 0;
  message.calls.clear();
  message.size = 0;
  message.hasText = false;
  message.finish = undefined;
  message.usage = undefined;
}

type CallHead = {
  readonly index: number;
  readonly id?: string;
  readonly name: string;
  readonly opaque?: Json;
};

function openCall(
  { open, calls, nameCall }: MessageBuilder,
  { index, id, name, opaque }: CallHead,
): OpenCall {
  const known = calls.get(index);
  if (known) {
    // Some servers repeat the head of a call with every piece, or give the id late.
    known.providerId ||= id;
    known.name ||= name;
    known.opaque ??= opaque;
    return known;
  }
  const call: OpenCall = { type: "call", id: nameCall(id, index), providerId: id, name, text: "", opaque };
  calls.set(index, call);
  open.push(call);
  return call;
}

function appendText(message: MessageBuilder, chunk: Extract<Chunk, { type: "text" | "reasoning" }>): void {
  const { open } = message;
  const last = open.at(-1);
  const { opaque } = chunk;
  message.size += chunk.text.length;
  // Opaque data closes a block: what follows is another one, with its own.
  if (last?.type === chunk.type && last.opaque === undefined) {
    last.text += chunk.text;
    if (opaque !== undefined) last.opaque = opaque;
  } else if (chunk.text || opaque !== undefined) {
    open.push({ type: chunk.type, text: chunk.text, ...(opaque !== undefined && { opaque }) });
  }
}

/** The parts in the model's order. A call said twice with the same id, name and arguments is one call. */
export function buildParts({ open }: MessageBuilder): AssistantPart[] {
  const said = new Set<string>();
  const parts: AssistantPart[] = [];
  for (const part of open) {
    if (part.type !== "call") parts.push(part);
    else if (part.providerId === undefined) parts.push(buildCallPart(part));
    else {
      const twin = JSON.stringify([part.providerId, part.name, part.text]);
      if (!said.has(twin)) parts.push(buildCallPart(part));
      said.add(twin);
    }
  }
  return parts;
}

function buildCallPart({ id, providerId, name, text, opaque }: OpenCall): CallPart {
  const parsed = parseArguments(text);
  return {
    type: "call",
    id,
    ...(providerId && providerId !== id && { providerId }),
    name: name.length > maxNameLength ? `${name.slice(0, maxNameLength - 1).toWellFormed()}…` : name,
    ...(parsed.ok ? { input: parsed.input } : { input: {}, raw: text }),
    ...(opaque !== undefined && { opaque }),
  };
}

/** A model that is being listened to: what it has said so far, and where that is told. */
export type StreamContext = {
  readonly model: Model;
  readonly message: MessageBuilder;
  readonly citing?: CitationFilter | undefined;
  emit(delta: DeltaBody): void;
};

/** Sends the request and hears the answer to its end. */
export async function readModelStream(
  listening: StreamContext,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const reader = listening.model.stream(request, { signal })[Symbol.asyncIterator]();
  const stopReading = () => {
    Promise.resolve(reader.return?.()).catch(() => undefined); // not awaited: a stream that hangs would hang here too
  };
  signal.addEventListener("abort", stopReading, { once: true });
  try {
    for (;;) {
      const read = await reader.next();
      signal.throwIfAborted();
      if (read.done) return;
      handleChunks(read.value, listening);
    }
  } finally {
    signal.removeEventListener("abort", stopReading);
  }
}

/** A delta that still grows. */
type OpenDelta = Extract<DeltaBody, { delta: string }> & { delta: string };

/** Adds what one read said to the message and tells it, with neighbouring pieces of the same kind made one. */
function handleChunks(batch: readonly Chunk[], { message, citing, emit }: StreamContext): void {
  let open: OpenDelta | undefined;
  for (const chunk of citing ? batch.flatMap(citing.filter) : batch) {
    addChunk(message, chunk);
    const piece = toDelta(chunk, message);
    if (open && piece && open.type === piece.type && getCallId(open) === getCallId(piece)) {
      open.delta += piece.delta;
    } else if (piece || chunk.type === "restart") {
      if (open) emit(open);
      open = piece;
    }
    if (chunk.type === "restart") emit({ type: "message_restart", reason: chunk.reason });
  }
  if (open) emit(open);
  for (const citation of citing?.startMessage() ?? []) emit(citation);
}

function toDelta(chunk: Chunk, message: MessageBuilder): OpenDelta | undefined {
  if (chunk.type === "text" && chunk.text) return { type: "content_delta", delta: chunk.text };
  if (chunk.type === "reasoning" && chunk.text) return { type: "reasoning_delta", delta: chunk.text };
  if (chunk.type !== "call_start" && chunk.type !== "call_delta") return undefined;
  const call = message.calls.get(chunk.index);
  const delta = chunk.type === "call_delta" ? chunk.text : "";
  return call && { type: "tool_call_delta", id: call.id, name: call.name, delta };
}

function getCallId(piece: OpenDelta): string | undefined {
  return piece.type === "tool_call_delta" ? piece.id : undefined;
}

const charactersPerToken = 4;
const maxPlausibleTokens = 1e9;

/** What the provider says it used, or an estimate when it says nothing usable: a budget never goes down. */
export function resolveUsage(
  message: MessageBuilder,
  state: State,
): { usage: Usage; warnings: readonly FactBody[] } {
  const told = message.usage;
  if (told && isUsable(told)) return { usage: told, warnings: [] };
  const usage = {
    inputTokens: Math.ceil(countHistoryCharacters(state) / charactersPerToken),
    outputTokens: Math.ceil(message.size / charactersPerToken),
    estimated: true,
  };
  if (state.run?.warned.has("usage_estimated")) return { usage, warnings: [] };
  const problem = told ? "unusable figures" : "no figures";
  const text = `The model gave ${problem} for its usage; they are estimated.`;
  return { usage, warnings: [{ type: "warning", code: "usage_estimated", message: text }] };
}

function isUsable({ inputTokens, outputTokens, cost = 0 }: Usage): boolean {
  return [inputTokens, outputTokens, cost].every(
    (figure) => Number.isFinite(figure) && figure >= 0 && figure < maxPlausibleTokens,
  );
}

/** How far each history has been measured: a history only grows, and is not measured twice. */
const measured = new WeakMap<readonly Entry[], { entries: number; characters: number }>();

function countHistoryCharacters({ history }: State): number {
  const known = measured.get(history) ?? { entries: 0, characters: 0 };
  for (const entry of history.slice(known.entries)) known.characters += JSON.stringify(entry).length;
  known.entries = history.length;
  measured.set(history, known);
  return known.characters;
}
