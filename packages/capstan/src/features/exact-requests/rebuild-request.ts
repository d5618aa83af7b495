import { AgentError } from "../../base/errors.ts";
import { toBase64 } from "../../base/json.ts";
import type { Store } from "../../runtime/store.ts";
import { listMediaData } from "./media-data.ts";
import type { ExactRequest, StoredRequest } from "./stored-request.ts";
import { joinLayout, type MediaReference, resolvePieces, type TextLayout } from "./text-pieces.ts";

type RequestSource = {
  readonly store: Pick<Store, "getBlob" | "read" | "readRequests">;
  readonly sessionId: string;
};

/** Rebuilds the bodies of stored requests, which belong to one session. */
export async function rebuildRequests(
  source: RequestSource,
  requests: readonly StoredRequest[],
): Promise<readonly ExactRequest[]> {
  if (requests.length === 0) return [];
  const { store, sessionId } = source;
  const from = Math.min(...requests.map(({ first }) => first));
  const to = Math.max(...requests.map(({ number }) => number));
  const known = new Map<number, StoredRequest>();
  for (const request of (await store.readRequests?.(sessionId, { from, to })) ?? [])
    known.set(request.number, request);
  const load = (reference: MediaReference) => loadMedia(source, reference);
  const rebuilt: ExactRequest[] = [];
  for (const request of requests) {
    const { seq: _seq, base: _base, first: _first, span: _span, pieces: _pieces, ...rest } = request;
    let layout: TextLayout = [];
    for (const { pieces } of listChain(known, request)) layout = await resolvePieces(pieces, layout, load);
    rebuilt.push({ ...rest, body: joinLayout(layout) });
  }
  return rebuilt;
}

async function loadMedia({ store, sessionId }: RequestSource, reference: MediaReference): Promise<string> {
  if ("seq" in reference) {
    const [fact] = await store.read(sessionId, reference.seq - 1, 1);
    const data = fact?.seq === reference.seq ? listMediaData(fact)[reference.index] : undefined;
    if (data === undefined) throw createLossError(`its media in the fact ${reference.seq}`);
    return data;
  }
  const blob = await store.getBlob(sessionId, reference.blob);
  if (!blob || typeof blob.data === "string") throw createLossError(`its media "${reference.blob}"`);
  return toBase64(blob.data);
}

/** Returns the request and everything it is based on, the first base first. */
function listChain(
  known: ReadonlyMap<number, StoredRequest>,
  request: StoredRequest,
): readonly StoredRequest[] {
  const chain = [request];
  for (let { base } = request; base !== undefined; ) {
    const next = known.get(base);
    if (!next) throw createLossError(`the earlier request ${base}`);
    chain.push(next);
    base = next.base;
  }
  return chain.reverse();
}

function createLossError(part: string): AgentError {
  return new AgentError(
    "not_found",
    `The stored request cannot be rebuilt, because ${part} is not in the session anymore.`,
  );
}
