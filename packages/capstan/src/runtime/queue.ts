// Runs that wait for their turn: one record {runs} of kind "queue" per session, in the order in which the runs start. A
// start that is too long for a record is a blob of the session. Records are not part of a session file or a fork.
import { AgentError } from "../base/errors.ts";
import { isRecord, type Json } from "../base/json.ts";
import type { FactBody } from "../kernel/event.ts";
import { type StoredRecord, updateRecord } from "../kernel/records.ts";
import { loadRunFacts } from "./load-facts.ts";
import type { RunInfo, Store } from "./store.ts";

export type RunStart = Extract<FactBody, { readonly type: "run_start" }>;

/** A run whose message is stored and that has not started yet. */
export type QueuedRun = {
  readonly runId: string;
  readonly sessionId: string;
  readonly agent: string;
  readonly queuedAt: number;
  /** The start of the message, for display. */
  readonly text: string;
  /** Whether the run starts before runs that do not interrupt, and cancels those before it that do. */
  readonly interrupts?: true;
  /** The unfinished run that the message is sent to. If that run does not take it, this one starts. */
  readonly steers?: string;
  /** Set if the run was cancelled: it ends as soon as it starts, without a model call. */
  readonly cancelReason?: string;
};

type QueuedItem = Omit<QueuedRun, "sessionId"> & {
  readonly start: RunStart | { readonly handle: string };
};

type QueueStore = Pick<Store, "getRecord" | "putRecord" | "removeRecord">;

export const queueKind = "queue";
const maxQueuedRuns = 20;
/** Longer starts are blobs, so that a full queue fits into a record. */
const maxInlineLength = 20_000;

/** Lists the queued runs of a session in the order in which they start. */
export async function listQueuedRuns(store: QueueStore, sessionId: string): Promise<readonly QueuedRun[]> {
  const items = parseItems((await store.getRecord(queueKind, sessionId))?.body);
  return items.map((item) => toQueuedRun(item, sessionId));
}

/** Lists the ids of the runs in the record of a queue. */
export function listRunIds({ body }: Pick<StoredRecord, "body">): readonly string[] {
  return parseItems(body).map(({ runId }) => runId);
}

/** Counts the queued runs of all sessions. */
export async function countQueuedRuns(store: Pick<Store, "listRecords">): Promise<number> {
  const records = await store.listRecords(queueKind);
  return records.reduce((sum, record) => sum + listRunIds(record).length, 0);
}

function toQueuedRun({ start: _, ...item }: QueuedItem, sessionId: string): QueuedRun {
  return { ...item, sessionId };
}

/** Finds a queued run by its id. */
export async function findQueuedRun(
  store: Pick<Store, "listRecords">,
  runId: string,
): Promise<QueuedRun | undefined> {
  for (const { id, body } of await store.listRecords(queueKind)) {
    const item = parseItems(body).find((queued) => queued.runId === runId);
    if (item) return toQueuedRun(item, id);
  }
  return undefined;
}

/** A run in a listing with queued ones. */
export type ListedRun = Omit<RunInfo, "state"> & {
  /** `queued`: it starts when the runs before it have ended. `startedAt` is when it was queued. */
  readonly state: RunInfo["state"] | "queued";
  /** The start of the message of a queued run. */
  readonly text?: string;
};

export function toListedRun({ runId, sessionId, agent, queuedAt, text }: QueuedRun): ListedRun {
  return { runId, sessionId, agent, state: "queued", startedAt: queuedAt, updatedAt: queuedAt, text };
}

/** Loads the start of a queued run; undefined if the run is no longer in the queue. */
export async function loadQueuedStart(
  store: Store,
  { runId, sessionId }: Pick<QueuedRun, "runId" | "sessionId">,
): Promise<RunStart | undefined> {
  const items = parseItems((await store.getRecord(queueKind, sessionId))?.body);
  const start = items.find((item) => item.runId === runId)?.start;
  if (!start || !("handle" in start)) return start;
  const blob = await store.getBlob(sessionId, start.handle);
  return typeof blob?.data === "string" ? (JSON.parse(blob.data) as RunStart) : undefined;
}

/** Adds a run to the queue of its session, once. Rejects with `queue_full`. */
export async function addQueuedRun(store: Store, queued: QueuedRun, start: RunStart): Promise<void> {
  const { sessionId, ...item } = queued;
  const text = JSON.stringify(start);
  const blob = { mediaType: "application/json", data: text };
  const stored = text.length <= maxInlineLength ? start : { handle: await store.putBlob(sessionId, blob) };
  await updateQueue(store, sessionId, (items) => {
    if (items.some(({ runId }) => runId === item.runId)) return items;
    if (items.length >= maxQueuedRuns) throw createFullError(sessionId);
    const place = item.interrupts ? items.findIndex(({ interrupts }) => !interrupts) : -1;
    return items.toSpliced(place === -1 ? items.length : place, 0, { ...item, start: stored });
  });
}

/** Changes a queued run. Does nothing if the run is no longer in the queue. */
export async function changeQueuedRun(
  store: QueueStore,
  { runId, sessionId }: Pick<QueuedRun, "runId" | "sessionId">,
  change: { readonly cancelReason: string } | { readonly steers: undefined },
): Promise<void> {
  await updateQueue(store, sessionId, (items) =>
    items.some((item) => item.runId === runId)
      ? items.map((item) => (item.runId === runId ? ({ ...item, ...change } as QueuedItem) : item))
      : items,
  );
}

/** Removes a run from the queue: it has started, or another run has taken its message. */
export async function removeQueuedRun(
  store: QueueStore,
  { runId, sessionId }: Pick<QueuedRun, "runId" | "sessionId">,
): Promise<void> {
  await updateQueue(store, sessionId, (items) =>
    items.some((item) => item.runId === runId) ? items.filter((item) => item.runId !== runId) : items,
  );
}

/** Deletes the queue of a session that is being removed. */
export async function deleteQueue(store: QueueStore, sessionId: string): Promise<void> {
  await updateRecord(store, { kind: queueKind, id: sessionId }, () => undefined);
}

/** Whether the run that a message was sent to has taken it: a turn with the message has started. */
export async function wasTaken(store: Store, { runId, steers }: QueuedRun): Promise<boolean> {
  if (steers === undefined || !(await store.findRun(steers))) return false;
  const facts = (await loadRunFacts(store, steers)).filter((fact) => fact.runId === steers);
  const position = facts.findIndex((fact) => fact.type === "steered" && fact.queuedAs === runId);
  return position !== -1 && facts.slice(position).some(({ type }) => type === "turn_start");
}

/** Finds the run that took the message of a queued run. */
export async function findTaker(
  store: Store,
  { runId, sessionId }: Pick<QueuedRun, "runId" | "sessionId">,
): Promise<string | undefined> {
  const runs = await store.listRuns(sessionId);
  for (const { runId: steers } of runs.toReversed()) {
    const facts = await loadRunFacts(store, steers);
    if (facts.some((fact) => fact.type === "steered" && fact.queuedAs === runId)) return steers;
  }
  return undefined;
}

async function updateQueue(
  store: QueueStore,
  id: string,
  update: (items: readonly QueuedItem[]) => readonly QueuedItem[],
): Promise<void> {
  await updateRecord(store, { kind: queueKind, id }, (body) => {
    const items = parseItems(body);
    const updated = update(items);
    if (updated === items) return body;
    return updated.length > 0 ? ({ runs: updated } as unknown as Json) : undefined;
  });
}

function parseItems(body: Json | undefined): readonly QueuedItem[] {
  return isRecord(body) && Array.isArray(body.runs) ? (body.runs as unknown as readonly QueuedItem[]) : [];
}

function createFullError(sessionId: string): AgentError {
  const message = `Session "${sessionId}" already has ${maxQueuedRuns} queued runs. Wait until some have started, or cancel some.`;
  return new AgentError("queue_full", message);
}
