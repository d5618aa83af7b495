import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { AgentError, type Store } from "capstan";
import type { Deployment } from "../deployment.ts";

/** Something that is made at most once, because its id follows from an `Idempotency-Key`. */
export type Unique<Made> = {
  readonly id: string;
  /** What is there already. Throws `idempotency_conflict` when it was made from something else. */
  find(): Promise<Made | undefined>;
  /** Rejects when somebody else makes it at this moment. */
  make(): Promise<Made>;
};

export type Once<Made> = { readonly made: Made; readonly isNew: boolean };

const underWay = new WeakMap<Deployment, Map<string, Promise<unknown>>>();
const patienceMs = 5000;
const lookEveryMs = 25;

/** Makes something, or finds what the same request has made: here or in another process, at this moment or long ago. */
export async function once<Made>(deployment: Deployment, unique: Unique<Made>): Promise<Once<Made>> {
  const own = underWay.get(deployment) ?? new Map<string, Promise<unknown>>();
  underWay.set(deployment, own);
  const before = own.get(unique.id) ?? Promise.resolve();
  const mine = before.then(() => findOrMake(unique));
  const settled = mine.catch(() => undefined);
  own.set(unique.id, settled);
  try {
    return await mine;
  } finally {
    if (own.get(unique.id) === settled) own.delete(unique.id);
  }
}

async function findOrMake<Made>({ find, make }: Unique<Made>): Promise<Once<Made>> {
  const found = await find();
  if (found !== undefined) return { made: found, isNew: false };
  try {
    return { made: await make(), isNew: true };
  } catch (thrown) {
    const other = await otherMade(find, thrown);
    if (other === undefined) throw thrown;
    return { made: other, isNew: false };
  }
}

/** Another process was faster, and may not be done yet. */
async function otherMade<Made>(find: Unique<Made>["find"], thrown: unknown): Promise<Made | undefined> {
  const until = Date.now() + (isBusy(thrown) ? patienceMs : 0);
  for (;;) {
    const found = await find();
    if (found !== undefined || Date.now() >= until) return found;
    await wait(lookEveryMs);
  }
}

function isBusy(thrown: unknown): boolean {
  const codes = ["session_busy", "position_conflict", "lease_lost"];
  return thrown instanceof AgentError && codes.includes(thrown.code);
}

/** For a key that comes again with something else. */
export function otherRequest(): AgentError {
  const message =
    "This Idempotency-Key was used before, for something else: use a new one for each thing you ask.";
  return new AgentError("idempotency_conflict", message);
}

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
