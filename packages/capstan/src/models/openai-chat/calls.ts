import { isRecord, type Json } from "../../base/json.ts";
import type { Chunk } from "../../kernel/model.ts";
import { createInconsistencyError } from "../stream-identity.ts";
import { tagData } from "../wire.ts";
import { chatToolNames, formatCallId, type Server } from "./names.ts";

type ChatCall = {
  readonly index: number;
  id: string;
  name: string;
  text: string;
  /** Gemini's thought signature on its OpenAI-compatible API. */
  extra: Json | undefined;
};

/** The calls of a stream. Assigns pieces to calls even if the server misuses ids and indexes. */
export type ChatCalls = {
  readonly all: ChatCall[];
  readonly byIndex: Map<number, ChatCall>;
  last: ChatCall | undefined;
};

export function createChatCalls(): ChatCalls {
  return { all: [], byIndex: new Map(), last: undefined };
}

type CallPiece = {
  readonly index: number | undefined;
  id: string;
  name: string;
  text: string;
  readonly extra: Json | undefined;
};

/** Adds the pieces of one delta, and their chunks to `chunks`. */
export function addCallPieces(
  stream: Server & { readonly calls: ChatCalls },
  pieces: readonly unknown[],
  chunks: Chunk[],
): void {
  const { calls } = stream;
  // Most deltas have one piece.
  const updatedCalls = pieces.length > 1 ? new Set<ChatCall>() : undefined;
  for (const rawPiece of pieces) {
    if (!isRecord(rawPiece)) continue;
    const piece = parsePiece(rawPiece);
    const known = findContinuedCall(calls, piece, updatedCalls);
    const call = known ?? createChatCall(calls);
    if (piece.index !== undefined) calls.byIndex.set(piece.index, call);
    calls.last = call;
    updatedCalls?.add(call);
    // Id and name may arrive late or in separate pieces.
    const hasNewHead =
      !known || (!call.id && piece.id) || (!call.name && piece.name) || piece.extra !== undefined;
    call.id ||= piece.id;
    call.name ||= piece.name;
    call.extra ??= piece.extra;
    if (hasNewHead) chunks.push(toChatCallStart(call, stream));
    if (piece.text === "") continue;
    call.text += piece.text;
    chunks.push({ type: "call_delta", index: call.index, text: piece.text });
  }
}

function parsePiece(rawPiece: Record<string, unknown>): CallPiece {
  const { index, id, extra_content: extra } = rawPiece;
  const { name, arguments: argumentsValue } = isRecord(rawPiece.function) ? rawPiece.function : {};
  return {
    index: typeof index === "number" ? index : undefined,
    id: typeof id === "string" ? id : typeof id === "number" ? String(id) : "",
    name: typeof name === "string" ? chatToolNames.decodeName(name) : "",
    // Some servers send arguments as an object instead of a string.
    text:
      typeof argumentsValue === "string"
        ? argumentsValue
        : isRecord(argumentsValue)
          ? JSON.stringify(argumentsValue)
          : "",
    extra: isRecord(extra) ? (extra as Json) : undefined,
  };
}

function toChatCallStart({ index, id, name, extra }: ChatCall, { name: wire, quirks }: Server): Chunk {
  // Gateways carry signatures in long ids: the server that issued such an id gets it back unchanged.
  const isUnusual = formatCallId(id, quirks.callIds) !== id && id !== "";
  const data = { ...(extra !== undefined && { extra_content: extra }), ...(isUnusual && { id }) };
  const hasData = Object.keys(data).length > 0;
  return {
    type: "call_start",
    index,
    name,
    ...(id && { id }),
    ...(hasData && { opaque: tagData(wire, data) }),
  };
}

function createChatCall({ all }: ChatCalls): ChatCall {
  const call = { index: all.length, id: "", name: "", text: "", extra: undefined };
  all.push(call);
  return call;
}

/** Returns the call that a piece continues; undefined if it starts a new one. */
function findContinuedCall(
  calls: ChatCalls,
  piece: CallPiece,
  updatedCalls: ReadonlySet<ChatCall> | undefined,
): ChatCall | undefined {
  const { index, id, name } = piece;
  if (index !== undefined) {
    const known = calls.byIndex.get(index);
    if (known && !startsAnotherCall(known, piece)) return known;
    if (known && known.text !== "" && !isCompleteJson(known.text))
      throw createInconsistencyError(
        `the call "${known.name}" was replaced before its arguments were complete`,
      );
    if (known) return undefined;
    // A new index starts a call, unless the piece has no name and a known id.
    if (name === "" && id === "") return calls.last;
    return name === "" ? calls.all.find((call) => call.id === id) : undefined;
  }
  const named = id === "" ? undefined : calls.all.findLast((call) => call.id === id);
  const known = named ?? calls.last;
  if (!known || (name !== "" && updatedCalls?.has(known))) return undefined;
  if (!named && id !== "") return known.id === "" && known.text === "" && name === "" ? known : undefined;
  return startsAnotherCall(known, piece) ? undefined : known;
}

/** Whether a piece with the index, id or position of a known call starts another call. */
function startsAnotherCall(known: ChatCall, { id, name, text, index }: CallPiece): boolean {
  if (name === "") return false;
  if (id !== "" && known.id !== "" && id !== known.id) return true;
  if (known.name !== "" && name !== known.name) return true;
  // The same id and name again: some servers repeat them in every piece, others reuse one id for all calls.
  return (text.trim() !== "" || index === undefined) && isCompleteJson(known.text);
}

export function isCompleteJson(text: string): boolean {
  if (!text.trimEnd().endsWith("}")) return false;
  try {
    return isRecord(JSON.parse(text));
  } catch {
    return false;
  }
}
