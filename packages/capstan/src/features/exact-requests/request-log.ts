import { describeThrown } from "../../base/errors.ts";
import type { Store } from "../../runtime/store.ts";
import { type Body, diffBody } from "./diff-body.ts";
import { createMediaFinder, type MediaFinder } from "./find-media.ts";
import { rebuildRequests } from "./rebuild-request.ts";
import type { ExactRequest, NewRequest, RequestMedia, StoredRequest } from "./stored-request.ts";
import { type MediaReference, measurePieces, type TextPiece } from "./text-pieces.ts";

/** A request with its place in the run. */
export type PlacedRequest = NewRequest & Pick<ExactRequest, "runId" | "turn" | "agent" | "at">;

/** Collects the requests of a session and describes each by its difference to an earlier one. */
export interface RequestLog {
  add(request: PlacedRequest): void;
  /** Returns the requests since the last call, to be stored with the facts from position `seq`; undefined for none. */
  take(seq: number): EncodedRequests | undefined;
}

/** A promise only if something has to be read: most requests have no media, and this runs for every turn. */
export type EncodedRequests = readonly StoredRequest[] | Promise<readonly StoredRequest[]>;

type RequestLogOptions = {
  readonly store: Pick<Store, "readRequests" | "getBlob" | "findRun" | "read">;
  readonly sessionId: string;
  readonly runId: string;
  /** Whether the session may have requests already. */
  readonly isNew: boolean;
};

/** A stored request that later ones may be based on. */
type Base = Pick<StoredRequest, "number" | "first"> &
  Body & {
    readonly lane: string;
    /** Value of `Bases.length` before request `first` was stored. */
    readonly start: number;
  };

/** Requests of one lane resemble each other. A run has few: its agents, its nested runs, its summaries. */
const maxBases = 4;
/** A shorter media text is not worth a reference. */
const minMediaLength = 1024;
/** Rebuilding a body reads at most this multiple of its length, plus `maxSlack`: then one is stored as a whole. */
const maxReadFactor = 3;
const maxSlack = 65_536;

/** Creates the collector of a session's requests. Returns undefined for a store that keeps none. */
export function openRequestLog(options: RequestLogOptions): RequestLog | undefined {
  const { store, sessionId, isNew } = options;
  if (!store.readRequests) return undefined;
  const findMedia = createMediaFinder(options);
  let pending: PlacedRequest[] = [];
  let bases = isNew ? createBases() : undefined;
  let opening: Promise<Bases> | undefined;
  const open = () => {
    opening ??= loadBases(store, sessionId).then((loaded) => {
      bases = loaded;
      return loaded;
    });
    return opening;
  };
  return {
    add(request) {
      pending.push(request);
      if (bases) return;
      // While the model works on its answer. A failed read is repeated when the request is stored.
      open().catch(() => {
        opening = undefined;
      });
    },
    take(seq) {
      if (pending.length === 0) return undefined;
      const taken = pending;
      pending = [];
      const encodeTaken = (known: Bases) => encodeAll(taken, seq, { bases: known, findMedia });
      return bases ? encodeTaken(bases) : open().then(encodeTaken);
    },
  };
}

/** The newest requests of a session. */
type Bases = {
  list: readonly Base[];
  /** Number of the newest request. */
  number: number;
  /** Characters stored since the log was opened. */
  length: number;
};

const createBases = (): Bases => ({ list: [], number: 0, length: 0 });

function getLane({ purpose, agent, model }: Pick<StoredRequest, "purpose" | "agent" | "model">): string {
  return `${purpose} ${agent} ${model}`;
}

/** Rebuilds the newest requests, one per lane, so that a resumed session adds to them. */
async function loadBases(store: RequestLogOptions["store"], sessionId: string): Promise<Bases> {
  const newest = (await store.readRequests?.(sessionId, { last: 2 * maxBases })) ?? [];
  const lanes = new Map(newest.map((request) => [getLane(request), request]));
  const chosen = [...lanes.values()].sort((left, right) => left.number - right.number).slice(-maxBases);
  const rebuilt = await rebuildRequests({ store, sessionId }, chosen).catch(ignoreLoss);
  const list = chosen.map(({ number, first, span, ...request }, index) => {
    const later = newest.filter((other) => other.number > number);
    const start = -span - later.reduce((sum, { pieces }) => sum + measurePieces(pieces), 0);
    return { number, first, lane: getLane(request), body: rebuilt[index]?.body ?? "", start };
  });
  return { list, number: newest.at(-1)?.number ?? 0, length: 0 };
}

/** A request that cannot be rebuilt is no base: the next one is stored as a whole. */
function ignoreLoss(thrown: unknown): readonly ExactRequest[] {
  if (describeThrown(thrown, "store_failed").code === "not_found") return [];
  throw thrown;
}

type Encoder = { readonly bases: Bases; readonly findMedia: MediaFinder };

function encodeAll(requests: readonly PlacedRequest[], seq: number, encoder: Encoder): EncodedRequests {
  if (requests.some(({ media = [] }) => media.length > 0)) return encodeWithMedia(requests, seq, encoder);
  return requests.map((request) => {
    const match = findBest(encoder.bases, request);
    return { ...place(request, encoder.bases, match), seq };
  });
}

async function encodeWithMedia(
  requests: readonly PlacedRequest[],
  seq: number,
  { bases, findMedia }: Encoder,
): Promise<readonly StoredRequest[]> {
  const encoded: StoredRequest[] = [];
  for (const request of requests) {
    const match = findBest(bases, request);
    const pieces = await withReferences(match.pieces, request.media ?? [], findMedia);
    encoded.push({ ...place(request, bases, { ...match, pieces }), seq });
  }
  return encoded;
}

/** Gives a request its number, and makes it a base of later ones. */
function place(request: PlacedRequest, bases: Bases, { base, pieces }: Match): Omit<StoredRequest, "seq"> {
  const { media: _, body, parts, ...rest } = request;
  const lane = getLane(request);
  const number = bases.number + 1;
  const start = base?.start ?? bases.length;
  const first = base?.first ?? number;
  bases.number = number;
  bases.length += measurePieces(pieces);
  const span = bases.length - start;
  const others = bases.list.filter((other) => other.lane !== lane);
  bases.list = [...others.slice(1 - maxBases), { number, first, lane, body, start, ...(parts && { parts }) }];
  return { ...rest, number, first, span, ...(base && { base: base.number }), pieces };
}

/** The pieces of a body, of which some are copies of its base. */
type Match = { readonly base?: Base; readonly pieces: readonly TextPiece[] };

/** Finds the base that saves most; none if a whole body is not much larger, or is due. */
function findBest({ list, length }: Bases, request: PlacedRequest): Match {
  const { body } = request;
  const lane = getLane(request);
  let best: Match = { pieces: [body] };
  let bestSize = body.length;
  // The own lane first, because it usually fits.
  for (const base of list.toSorted(
    (left, right) => Number(right.lane === lane) - Number(left.lane === lane),
  )) {
    if (length - base.start > maxReadFactor * body.length + maxSlack) continue;
    const pieces = diffBody(base, request);
    const size = measurePieces(pieces);
    if (size < bestSize) [best, bestSize] = [{ base, pieces }, size];
    if (size * 4 < body.length) break;
  }
  return best;
}

/** Replaces the base64 of media that the session has already by references. */
async function withReferences(
  given: readonly TextPiece[],
  media: readonly RequestMedia[],
  findMedia: MediaFinder,
): Promise<readonly TextPiece[]> {
  const added = media.filter(
    ({ data }) => data.length >= minMediaLength && given.some((piece) => hasText(piece, data)),
  );
  if (added.length === 0) return given;
  const references = await findMedia(added);
  return added.reduce((pieces, { data }) => {
    const reference = references.get(data);
    return reference ? pieces.flatMap((piece) => splitAt(piece, data, reference)) : pieces;
  }, given);
}

function hasText(piece: TextPiece, text: string): piece is string {
  return typeof piece === "string" && piece.includes(text);
}

function splitAt(piece: TextPiece, data: string, reference: MediaReference): readonly TextPiece[] {
  if (!hasText(piece, data)) return [piece];
  return piece
    .split(data)
    .flatMap((text, index) => [...(index > 0 ? [reference] : []), ...(text === "" ? [] : [text])]);
}
