import { isRecord, type Json } from "../../json.ts";
import type { Chunk } from "../../model.ts";
import { tagged } from "../wire.ts";
import { chatToolNames } from "./names.ts";

type Call = { readonly index: number; id: string; name: string; text: string };

/** The calls of a stream: which pieces belong to which call, whatever the server does with ids and indexes. */
export type ChatCalls = {
  readonly all: Call[];
  readonly byIndex: Map<number, Call>;
  last: Call | undefined;
};

export function chatCalls(): ChatCalls {
  return { all: [], byIndex: new Map(), last: undefined };
}

type Piece = {
  readonly index: number | undefined;
  id: string;
  name: string;
  text: string;
  opaque: Json | undefined;
};

/** Adds the pieces of one delta, and gives their chunks. */
export function addPieces(calls: ChatCalls, pieces: readonly unknown[], wire: string): Chunk[] {
  const chunks: Chunk[] = [];
  const seen = new Set<Call>();
  for (const given of pieces) {
    if (!isRecord(given)) continue;
    const piece = pieceOf(given, wire);
    const known = callFor(calls, piece, seen);
    const call = known ?? newCall(calls);
    if (piece.index !== undefined) calls.byIndex.set(piece.index, call);
    calls.last = call;
    seen.add(call);
    // A head may come late or in two parts: the id first, the name after it.
    const isNews =
      !known || (!call.id && piece.id) || (!call.name && piece.name) || piece.opaque !== undefined;
    call.id ||= piece.id;
    call.name ||= piece.name;
    if (isNews) chunks.push(head(call, piece.opaque));
    if (piece.text === "") continue;
    call.text += piece.text;
    chunks.push({ type: "call_delta", index: call.index, text: piece.text });
  }
  return chunks;
}

function pieceOf(given: Record<string, unknown>, wire: string): Piece {
  const { index, id, extra_content: extra } = given;
  const { name, arguments: said } = isRecord(given.function) ? given.function : {};
  return {
    index: typeof index === "number" ? index : undefined,
    id: typeof id === "string" ? id : typeof id === "number" ? String(id) : "",
    name: typeof name === "string" ? chatToolNames.original(name) : "",
    // Some servers give arguments as JSON, not as its text.
    text: typeof said === "string" ? said : isRecord(said) ? JSON.stringify(said) : "",
    // Gemini's thought signature, when it is asked in OpenAI's way.
    opaque: isRecord(extra) ? tagged(wire, { extra_content: extra as Json }) : undefined,
  };
}

function head({ index, id, name }: Call, opaque: Json | undefined): Chunk {
  return { type: "call_start", index, name, ...(id && { id }), ...(opaque !== undefined && { opaque }) };
}

function newCall({ all }: ChatCalls): Call {
  const call = { index: all.length, id: "", name: "", text: "" };
  all.push(call);
  return call;
}

/** The call that a piece continues; nothing when it begins one. */
function callFor(calls: ChatCalls, piece: Piece, seen: ReadonlySet<Call>): Call | undefined {
  const { index, id, name } = piece;
  if (index !== undefined) {
    const known = calls.byIndex.get(index);
    if (known) return beginsAnother(known, piece) ? undefined : known;
    // A new index begins a call, unless its piece has nothing of a head but an id that is known.
    if (name === "" && id === "") return calls.last;
    return name === "" ? calls.all.find((call) => call.id === id) : undefined;
  }
  const named = id === "" ? undefined : calls.all.findLast((call) => call.id === id);
  const known = named ?? calls.last;
  if (!known || (name !== "" && seen.has(known))) return undefined;
  if (!named && id !== "") return known.id === "" && known.text === "" && name === "" ? known : undefined;
  return beginsAnother(known, piece) ? undefined : known;
}

/** Whether a piece with the index, the id or the place of a known call is the head of another one. */
function beginsAnother(known: Call, { id, name, text, index }: Piece): boolean {
  if (name === "") return false;
  if (id !== "" && known.id !== "" && id !== known.id) return true;
  if (known.name !== "" && name !== known.name) return true;
  // The same head again: some servers repeat it with every piece, others use one id or none for all calls.
  return (text.trim() !== "" || index === undefined) && isWhole(known.text);
}

export function isWhole(text: string): boolean {
  if (!text.trimEnd().endsWith("}")) return false;
  try {
    return isRecord(JSON.parse(text));
  } catch {
    return false;
  }
}
