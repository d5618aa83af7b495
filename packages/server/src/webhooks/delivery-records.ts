// The outbox: one record of kind "deliveries" per run whose result is still to be sent. When that is over, its outcome is
// a record of the session, which is deleted with it.
import { AgentError, type Json, type RunDelivery, type Store } from "capstan";
import type { SlackThread } from "./read-delivery.ts";

type RunLocation = { readonly runId: string; readonly sessionId: string };

/** A result to be sent, from before the run is started until the receiver has it. */
export type PendingDelivery = {
  readonly webhook: string;
  /** The sender's id of the delivery that started the run. */
  readonly requestId: string;
  readonly slack?: SlackThread;
  /** The message that was tried last, and how often. */
  readonly messageId?: string;
  readonly attempts: number;
  /** When to try again. A process claims the delivery by moving it into the future. */
  readonly nextAt: number;
  readonly error?: string;
  /** The last wait of the run that the receiver knows of, or that could not be reported. */
  readonly announcedSeq?: number;
};

/** A pending delivery with the version of its record. */
export type StoredDelivery = PendingDelivery & {
  readonly runId: string;
  readonly version: number;
  readonly createdAt: number;
};

export type DeliveryOutcome = Omit<RunDelivery, "nextAt" | "state"> & {
  readonly state: "delivered" | "failed";
};

/** Starts the tag of every run that a webhook started; its name follows. */
export const webhookTag = "webhook:";

const pendingKind = "deliveries";
const getOutcomeKind = (sessionId: string) => `delivery ${sessionId}`;

/** Stores that the result of a run is to be sent, before the run is started. Does nothing if it is stored already. */
export async function addDelivery(
  store: Store,
  runId: string,
  delivery: Pick<PendingDelivery, "webhook" | "requestId" | "slack">,
): Promise<void> {
  const body: PendingDelivery = { ...delivery, attempts: 0, nextAt: 0 };
  await store.putRecord({ kind: pendingKind, id: runId, body: body as Json }, 0).catch(ignoreConflict);
}

export async function listDeliveries(store: Store): Promise<readonly StoredDelivery[]> {
  return (await store.listRecords(pendingKind)).map(toStoredDelivery);
}

/** Counts the results that are still to be sent, by the name of their webhook. */
export async function countPendingDeliveries(store: Store): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { webhook } of await listDeliveries(store)) counts.set(webhook, (counts.get(webhook) ?? 0) + 1);
  return counts;
}

export async function findPending(store: Store, runId: string): Promise<StoredDelivery | undefined> {
  const record = await store.getRecord(pendingKind, runId);
  return record && toStoredDelivery(record);
}

type StoredRecord = Awaited<ReturnType<Store["putRecord"]>>;

function toStoredDelivery({ id, version, createdAt, body }: StoredRecord): StoredDelivery {
  return { ...(body as PendingDelivery), runId: id, version, createdAt };
}

/** Changes a pending delivery. Returns undefined if another process has changed it first. */
export async function changeDelivery(
  store: Store,
  { runId, version, createdAt, ...current }: StoredDelivery,
  change: Partial<PendingDelivery>,
): Promise<StoredDelivery | undefined> {
  const body = { ...current, ...change } as Json;
  const stored = await store
    .putRecord({ kind: pendingKind, id: runId, body, replaces: true }, version)
    .catch(ignoreConflict);
  return stored && toStoredDelivery(stored);
}

/** Whether the delivery of a run's result is over. */
export async function hasOutcome(store: Store, { runId, sessionId }: RunLocation): Promise<boolean> {
  return (await store.getRecord(getOutcomeKind(sessionId), runId)) !== undefined;
}

/** Ends a delivery. After a crash between the two writes, `hasOutcome` keeps the message from being sent again. */
export async function endDelivery(
  store: Store,
  { runId, version }: StoredDelivery,
  outcome?: DeliveryOutcome,
): Promise<void> {
  const sessionId = outcome && (await store.findSession(runId));
  if (sessionId !== undefined)
    await store
      .putRecord({ kind: getOutcomeKind(sessionId), id: runId, body: outcome as Json }, 0)
      .catch(ignoreConflict);
  await store.removeRecord(pendingKind, runId, version).catch(ignoreConflict);
}

/** Returns the delivery of a run's result; undefined if there is none. */
export async function findDelivery(
  store: Store,
  { runId, sessionId }: RunLocation,
): Promise<RunDelivery | undefined> {
  const ended = await store.getRecord(getOutcomeKind(sessionId), runId);
  if (ended) return ended.body as DeliveryOutcome;
  const pending = await findPending(store, runId);
  if (!pending) return undefined;
  const { webhook, attempts, nextAt, error } = pending;
  return { webhook, state: "pending", attempts, ...(error !== undefined && { error, nextAt }) };
}

/** Deletes the outcomes of a removed session. Its pending deliveries end when their run is not found. */
export async function deleteOutcomes(store: Store, sessionId: string): Promise<void> {
  const kind = getOutcomeKind(sessionId);
  for (const { id, version } of await store.listRecords(kind)) await store.removeRecord(kind, id, version);
}

function ignoreConflict(thrown: unknown): undefined {
  if (!(thrown instanceof AgentError && thrown.code === "position_conflict")) throw thrown;
}
