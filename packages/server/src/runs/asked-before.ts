import { createHash } from "node:crypto";
import { AgentError, type Store } from "capstan";
import { otherRequest } from "./idempotency.ts";

/**
 * What was asked for under an `Idempotency-Key`, as a digest: much of a request is not found again in what came of it. Kept
 * beside the session that it was about, and gone with it.
 */
export type Keyed = {
  readonly sessionId: string;
  /** What was made or told, in this session. */
  readonly id: string;
  readonly request: object;
};

const kindOf = (sessionId: string) => `asked ${sessionId}`;

/** Whether exactly this was asked before; undefined when nobody knows. Throws `idempotency_conflict` for something else. */
export async function wasAsked(store: Store, { sessionId, id, request }: Keyed): Promise<true | undefined> {
  const known = (await store.getRecord(kindOf(sessionId), id))?.body;
  if (known === undefined) return undefined;
  if (known !== digestOf(request)) throw otherRequest();
  return true;
}

/** To be called when it is done: what has failed may be asked for again, and otherwise. */
export async function rememberAsked(store: Store, { sessionId, id, request }: Keyed): Promise<void> {
  try {
    await store.putRecord({ kind: kindOf(sessionId), id, body: digestOf(request) }, 0);
  } catch (thrown) {
    // Somebody else has written it.
    if (!(thrown instanceof AgentError && thrown.code === "position_conflict")) throw thrown;
  }
}

/** Of a session that is gone. */
export async function forgetAsked(store: Store, sessionId: string): Promise<void> {
  const kind = kindOf(sessionId);
  for (const { id, version } of await store.listRecords(kind)) await store.removeRecord(kind, id, version);
}

function digestOf(request: object): string {
  return createHash("sha256").update(JSON.stringify(request, sorted)).digest("base64url");
}

/** The same for objects whose fields come in another order. */
function sorted(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
