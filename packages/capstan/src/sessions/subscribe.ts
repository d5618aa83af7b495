import { AgentError } from "../base/errors.ts";
import type { Event, Fact } from "../kernel/event.ts";
import { isInRun, isNested } from "../runtime/load-facts.ts";
import { findQueuedRun, listQueuedRuns } from "../runtime/queue.ts";
import type { FoundRun, Store } from "../runtime/store.ts";
import { createEventBuffer, createNotifier, type Notifier } from "./event-buffer.ts";

/** A position in a session: all facts up to `seq` have been read. */
export type Cursor = { readonly sessionId: string; readonly seq: number };

/** The run or session to read, starting after the position `after`. Default: from the first fact. */
export type Subscription = (
  | { readonly runId: string; readonly sessionId?: string }
  | { readonly sessionId: string; readonly runId?: undefined }
) & { readonly after?: number | Cursor };

export type SubscribeOptions = {
  /** Ends the iteration when aborted. */
  readonly signal?: AbortSignal;
  /** Maximum size of the unread events kept for a slow reader, in characters. Default: 1,000,000. */
  readonly maxBuffered?: number;
  /** Also ends when the run suspends to wait for an answer. */
  readonly untilRest?: boolean;
};

/** Thrown when the reader falls too far behind. Subscribe again after `cursor` to continue without missing a fact. */
export type SlowReader = AgentError & { readonly cursor: Cursor };

/**
 * Streams the events of a run or session: first the stored facts after a position, then new ones, whether written by
 * this process or another on the same store. Every fact arrives exactly once, in order. Deltas arrive between the facts
 * around them and are skipped once the reader is past them. A reader that joins in the middle of a message receives its
 * text so far as one delta. The subscription to a run ends after `done`; the subscription to a session ends when its
 * signal aborts. Slow readers do not slow down the writer.
 */
export function subscribe(
  store: Store,
  subscription: Subscription,
  options: SubscribeOptions = {},
): Subscribed {
  const notifier = createNotifier();
  let isOver = false;
  const stop = () => {
    isOver = true;
    notifier.notify();
  };
  const batches = follow(store, subscription, { ...options, notifier, stop, isOver: () => isOver });
  const events = flatten(batches, () => isOver || options.signal?.aborted === true);
  return {
    next: () => events.next(),
    nextBatch: () => batches.next(),
    async return() {
      stop();
      await batches.return();
      return events.return();
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Yields single events, or with `nextBatch` all available events, at least one, in order. Use one or the other. */
export interface Subscribed extends AsyncIterableIterator<Event, void, undefined> {
  nextBatch(): Promise<IteratorResult<readonly Event[], void>>;
}

async function* flatten(
  batches: AsyncIterable<readonly Event[]>,
  isOver: () => boolean,
): AsyncGenerator<Event, void, undefined> {
  for await (const batch of batches)
    for (const event of batch) {
      if (isOver()) return;
      yield event;
    }
}

const defaultMaxBuffered = 1_000_000;
/** Facts per read. Unread facts of a page are kept for the reader; the rest stays in the store. */
const pageSize = 200;

type FollowOptions = SubscribeOptions & {
  readonly notifier: Notifier;
  readonly stop: () => void;
  readonly isOver: () => boolean;
};

async function* follow(
  store: Store,
  subscription: Subscription,
  { notifier, stop, isOver, signal, untilRest = false, maxBuffered = defaultMaxBuffered }: FollowOptions,
): AsyncGenerator<readonly Event[], void, undefined> {
  const { runId } = subscription;
  const isWanted = (event: Event) => runId === undefined || isInRun(event, runId);
  let unwatch: (() => void) | undefined;
  signal?.addEventListener("abort", stop);
  try {
    const waiter = { ...notifier, isOver: () => isOver() || signal?.aborted === true };
    const source = await resolveSource(store, subscription, waiter);
    if (!source) return;
    const { sessionId, firstSeq } = source;
    const buffer = createEventBuffer(maxBuffered, notifier.notify);
    // Watch before the first read, so that no write in between is missed. `watch` delivers the current message's deltas
    // synchronously.
    let receive = buffer.receiveBacklog;
    unwatch = store.watch(sessionId, (notice) => receive(notice));
    receive = buffer.receive;
    let { position, last } = await findStart(store, { sessionId, firstSeq }, subscription);
    let unread: readonly Fact[] = [];
    while (!isOver() && !signal?.aborted) {
      const deltaPosition = buffer.position();
      if (unread.length > 0 || buffer.takeFacts()) {
        if (unread.length === 0) {
          unread = await store.read(sessionId, position, pageSize);
          if (unread.length === pageSize) buffer.markFacts();
        }
        const batch = takeWithinSize(unread, maxBuffered);
        unread = unread.slice(batch.length);
        position = batch.at(-1)?.seq ?? position;
        const wanted = batch.filter(isWanted);
        last = wanted.findLast((fact) => !isNested(fact)) ?? last;
        if (wanted.length > 0) yield wanted;
        // A run that failed may have been retried: it has ended if facts of another run follow, or none.
        const isLast = last && (last.seq < position || (unread.length === 0 && !buffer.hasFacts()));
        if (last && isLast && endsSubscription(last, subscription, false)) return;
      } else if (last && endsSubscription(last, subscription, untilRest)) return;
      else if (deltaPosition !== position) {
        // A delta may arrive before the fact it follows.
        if (deltaPosition < position) buffer.dropDeltas();
        await notifier.wait();
      } else if (buffer.hasOverflowed()) throw createSlowReaderError({ sessionId, seq: position });
      else {
        const deltas = buffer.takeDeltas();
        if (deltas.length === 0) await notifier.wait();
        const wanted = deltas.map(({ delta }) => delta).filter(isWanted);
        if (wanted.length > 0) yield wanted;
      }
    }
  } finally {
    unwatch?.();
    signal?.removeEventListener("abort", stop);
  }
}

/** A session, and the position of the first fact to read. */
type Source = { readonly sessionId: string; readonly firstSeq: number };

type Waiter = { wait(): Promise<void>; notify(): void; isOver(): boolean };

/** Waits for the start of a queued run. Returns undefined if the subscription ends before. */
async function resolveSource(
  store: Store,
  { runId, sessionId, after }: Subscription,
  waiter: Waiter,
): Promise<Source | undefined> {
  const source =
    runId === undefined
      ? { sessionId, firstSeq: 1 }
      : ((await store.findRun(runId)) ?? (await waitForStart(store, runId, waiter)));
  if (!source && waiter.isOver()) return undefined;
  if (source?.sessionId === undefined || (sessionId !== undefined && sessionId !== source.sessionId)) {
    const where = sessionId === undefined ? "store" : `session "${sessionId}"`;
    throw new AgentError("unknown_run", `The ${where} has no run "${runId}".`);
  }
  if (typeof after === "object" && after.sessionId !== source.sessionId) {
    const message = `The cursor belongs to session "${after.sessionId}", not "${source.sessionId}".`;
    throw new AgentError("invalid_input", message);
  }
  return { sessionId: source.sessionId, firstSeq: source.firstSeq };
}

/** Returns a queued run once it has started, in whichever process; undefined if the run does not exist. */
async function waitForStart(store: Store, runId: string, waiter: Waiter): Promise<FoundRun | undefined> {
  const queued = await findQueuedRun(store, runId);
  const unwatch = queued && store.watch(queued.sessionId, ({ type }) => type === "facts" && waiter.notify());
  try {
    for (let isQueued = queued !== undefined; ; ) {
      const run = await store.findRun(runId);
      if (run || !queued || !isQueued || waiter.isOver()) return run;
      await waiter.wait();
      // Read before `findRun`: a run leaves the queue after it has started.
      isQueued = (await listQueuedRuns(store, queued.sessionId)).some((one) => one.runId === runId);
    }
  } finally {
    unwatch?.();
  }
}

type StartPosition = { readonly position: number; readonly last: Fact | undefined };

/** Resolves the start position and the last fact of the run that the reader already has. */
async function findStart(
  store: Store,
  { sessionId, firstSeq }: Source,
  { runId, after = 0 }: Subscription,
): Promise<StartPosition> {
  const position = typeof after === "number" ? after : after.seq;
  if (position === 0) return { position: firstSeq - 1, last: undefined };
  const isPosition = Number.isInteger(position) && position > 0;
  const [fact] = isPosition ? await store.read(sessionId, position - 1, 1) : [];
  if (!fact) {
    const message = `Session "${sessionId}" has no fact at ${position}. Use the \`seq\` of a fact read from this session.`;
    throw new AgentError("invalid_input", message);
  }
  const isOwn = (fact: Fact) => (runId === undefined ? !isNested(fact) : fact.runId === runId);
  if (isOwn(fact)) return { position, last: fact };
  for (let end = position; end >= firstSeq; end -= pageSize) {
    const start = Math.max(firstSeq - 1, end - pageSize);
    const last = (await store.read(sessionId, start, end - start)).findLast(isOwn);
    if (last) return { position, last };
  }
  return { position: Math.max(position, firstSeq - 1), last: undefined };
}

/** True if this fact ends the subscription. */
function endsSubscription({ type }: Fact, { runId }: Subscription, untilRest: boolean): boolean {
  return (type === "done" && (runId !== undefined || untilRest)) || (type === "waiting" && untilRest);
}

/** Limits a batch to `limit` characters, but at least one fact. */
function takeWithinSize(facts: readonly Fact[], limit: number): readonly Fact[] {
  if (facts.length < 2) return facts; // the common case for live facts: skip measuring
  let size = 0;
  const cut = facts.findIndex((fact, index) => {
    size += JSON.stringify(fact).length;
    return size > limit && index > 0;
  });
  return cut === -1 ? facts : facts.slice(0, cut);
}

function createSlowReaderError(cursor: Cursor): SlowReader {
  const message = `The reader of session "${cursor.sessionId}" is too slow. Subscribe again after ${cursor.seq}.`;
  return Object.assign(new AgentError("aborted", message, { retryable: true }), { cursor });
}
