import { rejectOnAbort } from "../../base/clock.ts";
import { describeThrown, type ErrorData } from "../../base/errors.ts";
import type { Json } from "../../base/json.ts";
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
import type { DescribeThrown } from "./report-thrown.ts";
import { toJson, toLimitedJson } from "./to-json.ts";
import { formatNumber } from "./truncate-text.ts";

export type OutputLimits = {
  readonly signal: AbortSignal;
  /** Limit for text and items; the rest is not read. `maxBytes` is the limit for bytes. */
  readonly maxCharacters: number;
  readonly maxBytes: number;
  /** Describes what the output threw midway. */
  readonly describe?: DescribeThrown;
};

/** Limits for the output of a tool; the rest is not read. */
export const outputLimits = { maxCharacters: 10_000_000, maxBytes: 50_000_000 } as const;

/**
 * Reads streams, responses, blobs and async iterables to their end; returns any other value unchanged. An output that
 * fails midway becomes a failure with the part that was read. Rejects when the signal is aborted, and when nothing could
 * be read.
 */
export async function readToolOutput(returned: unknown, limits: OutputLimits): Promise<unknown> {
  const { maxBytes, maxCharacters } = limits;
  const kind = classifyOutput(returned);
  switch (kind.type) {
    case "value":
      return returned;
    case "bytes": {
      const isCut = kind.bytes.length > maxBytes;
      return createBinary({ bytes: kind.bytes.slice(0, maxBytes), mediaType: "", isCut });
    }
    case "blob":
      return readBlob(kind.blob, limits);
    case "response":
      return readResponse(kind.response, limits);
    case "items":
      return buildOutput(await collectItems(kind.open(), limits), (pieces) =>
        joinPieces(pieces, maxCharacters),
      );
  }
}

type OutputKind =
  | { readonly type: "value" }
  | { readonly type: "bytes"; readonly bytes: Uint8Array }
  | { readonly type: "blob"; readonly blob: Blob }
  | { readonly type: "response"; readonly response: Response }
  | { readonly type: "items"; readonly open: () => Items };

/** The used part of an async iterator; a stream reader is adapted to it. */
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
    return { type: "value" }; // a proxy that throws: serialized like any value, with the error noted
  }
}

/** Not every browser supports async iteration of a stream. */
function openReader(stream: ReadableStream<unknown>): Items {
  const reader = stream.getReader();
  return { next: () => reader.read(), return: () => reader.cancel() };
}

/** The output read before a limit or an error. */
type Collected = { readonly pieces: Pieces; readonly error?: ErrorData };
type Pieces = { readonly items: readonly Piece[]; readonly isCut: boolean };
type Piece = string | Uint8Array | { readonly json: Json };

async function collectItems(
  items: Items,
  { signal, maxCharacters, maxBytes, describe }: OutputLimits,
): Promise<Collected> {
  const pieces: Piece[] = [];
  const remaining = { characters: maxCharacters, bytes: maxBytes };
  try {
    for (;;) {
      const next = (await rejectOnAbort(Promise.resolve(items.next()), signal)) as IteratorResult<unknown>;
      if (next.done) return { pieces: { items: pieces, isCut: false } };
      const { piece, isWhole } = takePiece(next.value, remaining);
      if (piece !== undefined) pieces.push(piece);
      if (isWhole) continue;
      closeIterator(items);
      return { pieces: { items: pieces, isCut: true } };
    }
  } catch (thrown) {
    if (signal.aborted) closeIterator(items);
    if (signal.aborted || pieces.length === 0) throw thrown;
    return {
      pieces: { items: pieces, isCut: false },
      error: describe?.(thrown) ?? describeThrown(thrown, "tool_failed"),
    };
  }
}

/** Not awaited: an iterator that does not close must not block the run. */
function closeIterator(items: Items): void {
  Promise.resolve()
    .then(() => items.return?.())
    .catch(() => undefined);
}

/** With less space than this, a truncated item would be little more than its truncation mark. */
const minPieceLength = 200;

type RemainingSpace = { characters: number; bytes: number };

/** Takes as much of an item as fits. Each item costs something, so that an endless sequence of empty items ends too. */
function takePiece(
  item: unknown,
  remaining: RemainingSpace,
): { readonly piece?: Piece; readonly isWhole: boolean } {
  const bytes = toBytes(item);
  if (bytes) {
    const available = Math.max(remaining.bytes, 0);
    remaining.bytes -= Math.max(bytes.length, 1);
    return { piece: bytes.slice(0, available), isWhole: remaining.bytes >= 0 };
  }
  const available = Math.max(remaining.characters, 0);
  if (typeof item === "string") {
    remaining.characters -= Math.max(item.length, 1);
    return { piece: item.slice(0, available), isWhole: remaining.characters >= 0 };
  }
  const { json, isCut } = toLimitedJson(item, { characters: available });
  remaining.characters -= JSON.stringify(json).length + 1;
  if (!isCut && available > 0) return { piece: { json }, isWhole: true };
  return { ...(available >= minPieceLength && { piece: { json } }), isWhole: false };
}

/** Returns the value, or a failure with the part that was read. */
function buildOutput({ pieces, error }: Collected, make: (pieces: Pieces) => unknown): unknown {
  const value = make(pieces);
  if (!error) return value;
  const isList = Array.isArray(value);
  const where = isList ? `after ${formatNumber(value.length)} items` : "early";
  const message = `The output ended ${where}: ${error.message}`;
  const failure: ToolReturn = { error: { code: error.code, message }, retryable: error.retryable };
  if (isList) return { ...failure, content: JSON.stringify({ partial: value, error: message }), data: value };
  return typeof value === "string" ? { ...failure, content: `${value}\n… (${message})` } : failure;
}

/** Joins strings into one text and bytes into one buffer; anything else becomes a list. */
function joinPieces({ items, isCut }: Pieces, maxCharacters: number): unknown {
  const texts = items.filter((item) => typeof item === "string");
  const chunks = items.filter((item) => item instanceof Uint8Array);
  if (items.length > 0 && texts.length === items.length)
    return limitText(maxCharacters, texts.join(""), isCut);
  if (items.length > 0 && chunks.length === items.length) {
    return decodeUntyped({ bytes: concatBytes(chunks), isCut }, maxCharacters);
  }
  const list = items.map((item) => (isJsonPiece(item) ? item.json : toJson(item)));
  if (!isCut) return list;
  const partialList = [...list, `… only the first ${formatNumber(list.length)} items were read`];
  partialLists.add(partialList);
  return partialList;
}

const partialLists = new WeakSet<object>();

/** Whether the value is a list of which only the first items were read. */
export function isPartialList(value: unknown): boolean {
  return partialLists.has(value as object);
}

function isJsonPiece(piece: Piece): piece is { readonly json: Json } {
  return typeof piece !== "string" && !(piece instanceof Uint8Array);
}

async function readBlob(blob: Blob, { maxBytes, maxCharacters, signal }: OutputLimits): Promise<unknown> {
  const bytes = new Uint8Array(await rejectOnAbort(blob.slice(0, maxBytes).arrayBuffer(), signal));
  return decodeTyped({ bytes, mediaType: blob.type, isCut: blob.size > maxBytes }, maxCharacters);
}

/** A response with an error status is a failure, whatever its body says. */
async function readResponse(response: Response, limits: OutputLimits): Promise<unknown> {
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
  const bodyText = isBinary(value) ? "" : typeof value === "string" ? value : JSON.stringify(value);
  const message = [`HTTP ${status} ${statusText}`.trim(), bodyText].filter((text) => text !== "").join(": ");
  return { error: { message }, retryable: status >= 500 || status === 429 || status === 408 };
}
