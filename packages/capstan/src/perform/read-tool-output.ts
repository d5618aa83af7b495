import { rejectOnAbort } from "../clock.ts";
import { describeThrown, type ErrorData } from "../errors.ts";
import type { Json } from "../json.ts";
import type { ToolReturn } from "../tool.ts";
import {
  concatBytes,
  createBinary,
  decodeTyped,
  decodeUntyped,
  isBinary,
  limitText,
  toBytes,
} from "./binary.ts";
import { toJson, toLimitedJson } from "./to-json.ts";
import { formatNumber } from "./truncate-text.ts";

export type OutputLimits = {
  readonly signal: AbortSignal;
  /** Text and items are read up to so many characters, bytes up to so many bytes: more is not read. */
  readonly maxCharacters: number;
  readonly maxBytes: number;
};

/**
 * What a tool returned, once all of it is there: streams, responses, blobs and async iterables are read, anything else
 * is given back as it is. One that breaks off half way becomes a failure that has what came before. Rejects when
 * the signal is aborted, and when nothing could be read.
 */
export async function readToolOutput(returned: unknown, limits: OutputLimits): Promise<unknown> {
  const { maxBytes: mostBytes, maxCharacters: mostCharacters } = limits;
  const kind = classifyOutput(returned);
  switch (kind.type) {
    case "value":
      return returned;
    case "bytes": {
      const isCut = kind.bytes.length > mostBytes;
      return createBinary({ bytes: kind.bytes.slice(0, mostBytes), mediaType: "", isCut });
    }
    case "blob":
      return readBlob(kind.blob, limits);
    case "response":
      return gatherResponse(kind.response, limits);
    case "items":
      return buildOutput(await collectItems(kind.open(), limits), (pieces) =>
        joinPieces(pieces, mostCharacters),
      );
  }
}

type OutputKind =
  | { readonly type: "value" }
  | { readonly type: "bytes"; readonly bytes: Uint8Array }
  | { readonly type: "blob"; readonly blob: Blob }
  | { readonly type: "response"; readonly response: Response }
  | { readonly type: "items"; readonly open: () => Items };

/** The part of an async iterator that is used; the reader of a stream is one, too. */
type Items = { next(): unknown; return?(): unknown };

function classifyOutput(returned: unknown): OutputKind {
  if (typeof returned !== "object" || returned === null) return { type: "value" };
  try {
    const bytes = toBytes(returned);
    if (bytes) return { type: "bytes", bytes };
    if (returned instanceof Blob) return { type: "blob", blob: returned };
    if (returned instanceof Response) return { type: "response", response: returned };
    if (returned instanceof ReadableStream) return { type: "items", open: () => openReader(returned) };
    const iterate: unknown = Reflect.get(returned, Symbol.asyncIterator);
    if (typeof iterate !== "function") return { type: "value" };
    return { type: "items", open: () => Reflect.apply(iterate, returned, []) };
  } catch {
    return { type: "value" }; // a proxy that throws: it is serialised with that said
  }
}

/** Not every browser can iterate a stream. */
function openReader(stream: ReadableStream<unknown>): Items {
  const reader = stream.getReader();
  return { next: () => reader.read(), return: () => reader.cancel() };
}

/** What was read, up to a limit or to an error. */
type Collected = { readonly pieces: Pieces; readonly error?: ErrorData };
type Pieces = { readonly items: readonly Piece[]; readonly isCut: boolean };
type Piece = string | Uint8Array | { readonly json: Json };

async function collectItems(
  items: Items,
  { signal, maxCharacters: mostCharacters, maxBytes: mostBytes }: OutputLimits,
): Promise<Collected> {
  const pieces: Piece[] = [];
  const left = { characters: mostCharacters, bytes: mostBytes };
  try {
    for (;;) {
      const next = (await rejectOnAbort(Promise.resolve(items.next()), signal)) as IteratorResult<unknown>;
      if (next.done) return { pieces: { items: pieces, isCut: false } };
      const { piece, isWhole } = takePiece(next.value, left);
      if (piece !== undefined) pieces.push(piece);
      if (isWhole) continue;
      closeIterator(items);
      return { pieces: { items: pieces, isCut: true } };
    }
  } catch (thrown) {
    if (signal.aborted) closeIterator(items);
    if (signal.aborted || pieces.length === 0) throw thrown;
    return { pieces: { items: pieces, isCut: false }, error: describeThrown(thrown, "tool_failed") };
  }
}

/** Not waited for: what does not end when asked to must not hold up the run. */
function closeIterator(items: Items): void {
  Promise.resolve()
    .then(() => items.return?.())
    .catch(() => undefined);
}

/** With less room than this, the beginning of an item would be little more than a mark that it was cut. */
const minPieceLength = 200;

type RemainingSpace = { characters: number; bytes: number };

/** As much of an item as there is room for. Each one costs something, so that also an endless row of nothing ends. */
function takePiece(
  item: unknown,
  left: RemainingSpace,
): { readonly piece?: Piece; readonly isWhole: boolean } {
  const bytes = toBytes(item);
  if (bytes) {
    const room = Math.max(left.bytes, 0);
    left.bytes -= Math.max(bytes.length, 1);
    return { piece: bytes.slice(0, room), isWhole: left.bytes >= 0 };
  }
  const room = Math.max(left.characters, 0);
  if (typeof item === "string") {
    left.characters -= Math.max(item.length, 1);
    return { piece: item.slice(0, room), isWhole: left.characters >= 0 };
  }
  const { json, isCut } = toLimitedJson(item, { characters: room });
  left.characters -= JSON.stringify(json).length + 1;
  if (!isCut && room > 0) return { piece: { json }, isWhole: true };
  return { ...(room >= minPieceLength && { piece: { json } }), isWhole: false };
}

/** The value that was read, or a failure that has as much of it as there is. */
function buildOutput({ pieces, error }: Collected, make: (pieces: Pieces) => unknown): unknown {
  const value = make(pieces);
  if (!error) return value;
  const isList = Array.isArray(value);
  const where = isList ? `after ${formatNumber(value.length)} items` : "half way";
  const message = `It broke off ${where}: ${error.message}`;
  const failure: ToolReturn = { error: { code: error.code, message }, retryable: error.retryable };
  if (isList) return { ...failure, content: JSON.stringify({ partial: value, error: message }), data: value };
  return typeof value === "string" ? { ...failure, content: `${value}\n… (${message})` } : failure;
}

/** Texts make one text, and bytes are put together; anything else is a list. */
function joinPieces({ items, isCut }: Pieces, mostCharacters: number): unknown {
  const texts = items.filter((item) => typeof item === "string");
  const chunks = items.filter((item) => item instanceof Uint8Array);
  if (items.length > 0 && texts.length === items.length)
    return limitText(mostCharacters, texts.join(""), isCut);
  if (items.length > 0 && chunks.length === items.length) {
    return decodeUntyped({ bytes: concatBytes(chunks), isCut }, mostCharacters);
  }
  const list = items.map((item) => (isJsonPiece(item) ? item.json : toJson(item)));
  return isCut ? [...list, `… only the first ${formatNumber(list.length)} items were read`] : list;
}

function isJsonPiece(piece: Piece): piece is { readonly json: Json } {
  return typeof piece !== "string" && !(piece instanceof Uint8Array);
}

async function readBlob(
  blob: Blob,
  { maxBytes: mostBytes, maxCharacters: mostCharacters, signal }: OutputLimits,
): Promise<unknown> {
  const bytes = new Uint8Array(await rejectOnAbort(blob.slice(0, mostBytes).arrayBuffer(), signal));
  return decodeTyped({ bytes, mediaType: blob.type, isCut: blob.size > mostBytes }, mostCharacters);
}

/** A response that says it is an error is a failure, whatever its body says. */
async function gatherResponse(response: Response, limits: OutputLimits): Promise<unknown> {
  const { body, ok, status, statusText } = response;
  const mediaType = response.headers.get("content-type") ?? "";
  const collected = body
    ? await collectItems(openReader(body), limits)
    : { pieces: { items: [], isCut: false } };
  const make = ({ items, isCut }: Pieces) => {
    const bytes = concatBytes(items.filter((item) => item instanceof Uint8Array));
    return decodeTyped({ bytes, mediaType, isCut }, limits.maxCharacters);
  };
  if (ok) return buildOutput(collected, make);
  const value = make(collected.pieces);
  const said = isBinary(value) ? "" : typeof value === "string" ? value : JSON.stringify(value);
  const message = [`HTTP ${status} ${statusText}`.trim(), said].filter((text) => text !== "").join(": ");
  return { error: { message }, retryable: status >= 500 || status === 429 || status === 408 };
}
