import type { AssistantPart, CallPart, OpaquePart, ReasoningPart, TextPart } from "../history.ts";
import type { Json } from "../json.ts";
import type { Chunk, Finish, Usage } from "../model.ts";
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
