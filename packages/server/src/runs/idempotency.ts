import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { AgentError, type Store } from "capstan";
import type { Deployment } from "../deployment.ts";

/** Something created at most once, because its id derives from an `Idempotency-Key`. */
export type UniqueCreation<Made> = {
  readonly id: string;
  /** Returns the existing value. Throws if it cannot be created: `idempotency_conflict` if another request did. */
  find(): Promise<Made | undefined>;
  /** Rejects with `session_busy` if another process is creating it, or died while it did. */
  create(): Promise<Made>;
};

export type CreationResult<Made> = { readonly value: Made; readonly isNew: boolean };

const pendingCreations = new WeakMap<Deployment, Map<string, Promise<unknown>>>();
/** Time to create something after the lease of a process that died has expired. */
const graceMs = 5000;
const pollMs = 50;

/**
 * Runs `create` at most once per id, across processes; returns the existing value, if any. Waits for another process
 * that creates it, and longer than the lease of one that died while it did.
 */
export async function runOnce<Made>(
  deployment: Deployment,
  unique: UniqueCreation<Made>,
): Promise<CreationResult<Made>> {
  const own = pendingCreations.get(deployment) ?? new Map<string, Promise<unknown>>();
  pendingCreations.set(deployment, own);
  const before = own.get(unique.id) ?? Promise.resolve();
  const mine = before.then(() => findOrCreate(unique, deployment.leaseMs + graceMs));
  const settled = mine.catch(() => undefined);
  own.set(unique.id, settled);
  try {
    return await mine;
  } finally {
    if (own.get(unique.id) === settled) own.delete(unique.id);
  }
}

async function findOrCreate<Made>(
  { find, create }: UniqueCreation<Made>,
  maxWaitMs: number,
): Promise<CreationResult<Made>> {
  const deadline = performance.now() + maxWaitMs;
  for (;;) {
    const found = await find();
    if (found !== undefined) return { value: found, isNew: false };
    try {
      return { value: await create(), isNew: true };
    } catch (thrown) {
      if (!isBusyError(thrown) || performance.now() >= deadline) throw thrown;
      await wait(pollMs);
    }
  }
}

/** Whether another process has the session, or wrote to it first. */
function isBusyError(thrown: unknown): boolean {
  const codes = ["session_busy", "position_conflict", "lease_lost"];
  return thrown instanceof AgentError && codes.includes(thrown.code);
}

export function createKeyConflictError(): AgentError {
  const message =
    "This Idempotency-Key was already used for a different request. Use a new key for each request.";
  return new AgentError("idempotency_conflict", message);
}

/**
 * The digest of a request with an `Idempotency-Key`, because not all of a request can be recovered from its result.
 * Stored with the session and deleted with it.
 */
export type KeyedRequest = {
  readonly sessionId: string;
  /** Id of the created run, session or message, unique within the session. */
  readonly id: string;
  readonly request: object;
};

const getRecordKind = (sessionId: string) => `asked ${sessionId}`;

/**
 * Whether the same request is stored, undefined if none is. Throws `idempotency_conflict` for a different request.
 */
export async function matchesStoredRequest(
  store: Store,
  { sessionId, id, request }: KeyedRequest,
): Promise<true | undefined> {
  const known = (await store.getRecord(getRecordKind(sessionId), id))?.body;
  if (known === undefined) return undefined;
  if (known !== digestRequest(request)) throw createKeyConflictError();
  return true;
}

/** Call after success: a failed request may be repeated with different content. */
export async function storeRequest(store: Store, { sessionId, id, request }: KeyedRequest): Promise<void> {
  try {
    await store.putRecord({ kind: getRecordKind(sessionId), id, body: digestRequest(request) }, 0);
  } catch (thrown) {
    // A concurrent request stored it.
    if (!(thrown instanceof AgentError && thrown.code === "position_conflict")) throw thrown;
  }
}

/** Deletes the digests of a removed session. */
export async function deleteRequests(store: Store, sessionId: string): Promise<void> {
  const kind = getRecordKind(sessionId);
  for (const { id, version } of await store.listRecords(kind)) await store.removeRecord(kind, id, version);
}

function digestRequest(request: object): string {
  return createHash("sha256").update(JSON.stringify(request, sortKeys)).digest("base64url");
}

/** Makes the digest independent of key order. */
function sortKeys(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
