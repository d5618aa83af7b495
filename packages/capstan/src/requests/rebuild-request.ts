import { AgentError } from "../errors.ts";
import { toBase64 } from "../json.ts";
import type { Store } from "../store.ts";
import type { ExactRequest, StoredRequest } from "./stored-request.ts";
import { joinLayout, resolvePieces, type TextLayout } from "./text-pieces.ts";

type RequestSource = {
  readonly store: Pick<Store, "getBlob" | "readRequests">;
  readonly sessionId: string;
};

/** Rebuilds the bodies of stored requests, which belong to one session. */
export async function rebuildRequests(
  { store, sessionId }: RequestSource,
  requests: readonly StoredRequest[],
): Promise<readonly ExactRequest[]> {
  if (requests.length === 0) return [];
  const from = Math.min(...requests.map(({ first }) => first));
  const to = Math.max(...requests.map(({ number }) => number));
  const known = new Map<number, StoredRequest>();
  for (const request of (await store.readRequests?.(sessionId, { from, to })) ?? [])
    known.set(request.number, request);
  const loadBlob = async (handle: string) => {
    const blob = await store.getBlob(sessionId, handle);
    if (!blob || typeof blob.data === "string") throw createLossError(`its media "${handle}"`);
    return toBase64(blob.data);
  };
  const rebuilt: ExactRequest[] = [];
  for (const request of requests) {
    const { seq: _seq, base: _base, first: _first, span: _span, pieces: _pieces, ...rest } = request;
    let layout: TextLayout = [];
    for (const { pieces } of listChain(known, request))
      layout = await resolvePieces(pieces, layout, loadBlob);
    rebuilt.push({ ...rest, body: joinLayout(layout) });
  }
  return rebuilt;
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
