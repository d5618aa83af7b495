import { AgentError } from "../errors.ts";
import type { Event, Fact } from "../event.ts";
import type { Store } from "../store.ts";
import { createEventBuffer, createNotifier, type Notifier } from "./event-buffer.ts";
import { isInRun, isNested } from "./load-facts.ts";

/** A place in the log of a session: all facts up to `seq` have been read. */
export type Cursor = { readonly sessionId: string; readonly seq: number };

/** What to read, and from where: everything behind `after`, a position in the session; from the first when left out. */
export type Subscription = (
  | { readonly runId: string; readonly sessionId?: string }
  | { readonly sessionId: string; readonly runId?: undefined }
) & { readonly after?: number | Cursor };

/** Settings of a reader. */
export type SubscribeOptions = {
  /** Aborting it ends the iteration. */
  readonly signal?: AbortSignal;
  /** Characters of unread events that are kept for a slow reader; a million when left out. */
  readonly maxBuffered?: number;
  /** Ends also when the run waits for an answer from outside. */
  readonly untilRest?: boolean;
};

/** Thrown by the iteration of a reader that was too slow: subscribe again behind `cursor`, and no fact is missed. */
export type SlowReader = AgentError & { readonly cursor: Cursor };

/**
 * The events of a run or a session: the stored facts behind a position, then those that are written from now on, here or
 * by another process on the same store. Every fact once, in order, without a gap. Deltas come between the facts they were
 * said between, and are left out when the reader is past them; one who comes in the middle of a message gets it from its
 * beginning, joined. Ends after `done` of a run; that of a session ends with its signal. A slow reader costs the writer
 * nothing.
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

/** Events one by one, or by `nextBatch` all that are there: at least one, in order. Use one of the two. */
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
  const sessionId = await resolveSession(store, subscription);
  const buffer = createEventBuffer(maxBuffered, notifier.notify);
  // Watched before the first read: what is written in between is told. What is being said is told within the call.
  let receive = buffer.receiveBacklog;
  const unwatch = store.watch(sessionId, (notice) => receive(notice));
  receive = buffer.receive;
  signal?.addEventListener("abort", stop);
  try {
    let { position, last } = await findStart(store, sessionId, subscription);
    while (!isOver() && !signal?.aborted) {
      const deltaPosition = buffer.position();
      if (buffer.takeFacts()) {
        const facts = await store.read(sessionId, position);
        const batch = takeWithinSize(facts, maxBuffered);
        if (batch.length < facts.length) buffer.markFacts();
        position = batch.at(-1)?.seq ?? position;
        const wanted = batch.filter(isWanted);
        last = wanted.findLast((fact) => !isNested(fact)) ?? last;
        if (wanted.length > 0) yield wanted;
        if (last && isEnd(last, subscription, false)) return;
      } else if (last && isEnd(last, subscription, untilRest)) return;
      else if (deltaPosition !== position) {
        // A piece may be heard of before the fact it comes after.
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
    unwatch();
    signal?.removeEventListener("abort", stop);
  }
}

async function resolveSession(store: Store, { runId, sessionId, after }: Subscription): Promise<string> {
  const storedSessionId = runId === undefined ? sessionId : await store.findSession(runId);
  if (storedSessionId === undefined || (sessionId !== undefined && sessionId !== storedSessionId)) {
    const where = sessionId === undefined ? "store" : `session "${sessionId}"`;
    throw new AgentError("unknown_run", `The ${where} has no run "${runId}".`);
  }
  if (typeof after === "object" && after.sessionId !== storedSessionId) {
    const message = `The position belongs to the session "${after.sessionId}", not to "${storedSessionId}".`;
    throw new AgentError("invalid_input", message);
  }
  return storedSessionId;
}

type StartPosition = { readonly position: number; readonly last: Fact | undefined };

/** Where to begin, and the last fact that the reader knows already. */
async function findStart(
  store: Store,
  sessionId: string,
  { runId, after = 0 }: Subscription,
): Promise<StartPosition> {
  const position = typeof after === "number" ? after : after.seq;
  if (position === 0) return { position, last: undefined };
  const isPosition = Number.isInteger(position) && position > 0;
  const [fact] = isPosition ? await store.read(sessionId, position - 1, 1) : [];
  if (!fact) {
    const message = `The session "${sessionId}" has no fact at ${position}: give the \`seq\` of one that was read from it.`;
    throw new AgentError("invalid_input", message);
  }
  if (!isNested(fact) && (runId === undefined || fact.runId === runId)) return { position, last: fact };
  const facts = await store.read(sessionId);
  const isOwn = (fact: Fact) => (runId === undefined ? !isNested(fact) : fact.runId === runId);
  return { position, last: facts.findLast((fact) => isOwn(fact) && fact.seq <= position) };
}

/** Whether nothing, or with `untilRest` nothing by itself, comes after this fact. */
function isEnd({ type }: Fact, { runId }: Subscription, untilRest: boolean): boolean {
  return (type === "done" && (runId !== undefined || untilRest)) || (type === "waiting" && untilRest);
}

/** As many facts as may be kept for a reader; the others stay in the store until it comes for them. */
function takeWithinSize(facts: readonly Fact[], limit: number): readonly Fact[] {
  if (facts.length < 2) return facts; // what is written now comes one by one: it needs no measuring
  let size = 0;
  const cut = facts.findIndex((fact, index) => {
    size += JSON.stringify(fact).length;
    return size > limit && index > 0;
  });
  return cut === -1 ? facts : facts.slice(0, cut);
}

function createSlowReaderError(cursor: Cursor): SlowReader {
  const message = `The reader of the session "${cursor.sessionId}" is too far behind: subscribe again after ${cursor.seq}.`;
  return Object.assign(new AgentError("aborted", message, { retryable: true }), { cursor });
}
