import { AgentError } from "../errors.ts";
import type { Event, Fact } from "../event.ts";
import type { Store } from "../store.ts";
import { isInRun, isNested } from "./stored-facts.ts";
import { type Doorbell, doorbell, unread } from "./unread.ts";

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
  const bell = doorbell();
  let isOver = false;
  const stop = () => {
    isOver = true;
    bell.ring();
  };
  const batches = follow(store, subscription, { ...options, bell, stop, isOver: () => isOver });
  const events = inTurn(batches, () => isOver || options.signal?.aborted === true);
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

async function* inTurn(
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

type Following = SubscribeOptions & {
  readonly bell: Doorbell;
  readonly stop: () => void;
  readonly isOver: () => boolean;
};

async function* follow(
  store: Store,
  subscription: Subscription,
  { bell, stop, isOver, signal, untilRest = false, maxBuffered = defaultMaxBuffered }: Following,
): AsyncGenerator<readonly Event[], void, undefined> {
  const { runId } = subscription;
  const isWanted = (event: Event) => runId === undefined || isInRun(event, runId);
  const sessionId = await sessionFor(store, subscription);
  const waiting = unread(maxBuffered, bell.ring);
  // Watched before the first read: what is written in between is told. What is being said is told within the call.
  let hear = waiting.hearBefore;
  const unwatch = store.watch(sessionId, (news) => hear(news));
  hear = waiting.hear;
  signal?.addEventListener("abort", stop);
  try {
    let { position, last } = await startOf(store, sessionId, subscription);
    while (!isOver() && !signal?.aborted) {
      const said = waiting.position();
      if (waiting.takeFacts()) {
        const facts = await store.read(sessionId, position);
        const batch = upTo(facts, maxBuffered);
        if (batch.length < facts.length) waiting.keepFacts();
        position = batch.at(-1)?.seq ?? position;
        const wanted = batch.filter(isWanted);
        last = wanted.findLast((fact) => !isNested(fact)) ?? last;
        if (wanted.length > 0) yield wanted;
        if (last && isEnd(last, subscription, false)) return;
      } else if (last && isEnd(last, subscription, untilRest)) return;
      else if (said !== position) {
        // A piece may be heard of before the fact it comes after.
        if (said < position) waiting.dropPieces();
        await bell.rung();
      } else if (waiting.isOverfull()) throw slowReader({ sessionId, seq: position });
      else {
        const pieces = waiting.takePieces();
        if (pieces.length === 0) await bell.rung();
        const wanted = pieces.map(({ delta }) => delta).filter(isWanted);
        if (wanted.length > 0) yield wanted;
      }
    }
  } finally {
    unwatch();
    signal?.removeEventListener("abort", stop);
  }
}

async function sessionFor(store: Store, { runId, sessionId, after }: Subscription): Promise<string> {
  const found = runId === undefined ? sessionId : await store.findSession(runId);
  if (found === undefined || (sessionId !== undefined && sessionId !== found)) {
    const where = sessionId === undefined ? "store" : `session "${sessionId}"`;
    throw new AgentError("unknown_run", `The ${where} has no run "${runId}".`);
  }
  if (typeof after === "object" && after.sessionId !== found) {
    const message = `The position belongs to the session "${after.sessionId}", not to "${found}".`;
    throw new AgentError("invalid_input", message);
  }
  return found;
}

type Start = { readonly position: number; readonly last: Fact | undefined };

/** Where to begin, and the last fact that the reader knows already. */
async function startOf(store: Store, sessionId: string, { runId, after = 0 }: Subscription): Promise<Start> {
  const position = typeof after === "number" ? after : after.seq;
  if (position === 0) return { position, last: undefined };
  const isPosition = Number.isInteger(position) && position > 0;
  const [at] = isPosition ? await store.read(sessionId, position - 1, 1) : [];
  if (!at) {
    const message = `The session "${sessionId}" has no fact at ${position}: give the \`seq\` of one that was read from it.`;
    throw new AgentError("invalid_input", message);
  }
  if (!isNested(at) && (runId === undefined || at.runId === runId)) return { position, last: at };
  const facts = await store.read(sessionId);
  const isOwn = (fact: Fact) => (runId === undefined ? !isNested(fact) : fact.runId === runId);
  return { position, last: facts.findLast((fact) => isOwn(fact) && fact.seq <= position) };
}

/** Whether nothing, or with `untilRest` nothing by itself, comes after this fact. */
function isEnd({ type }: Fact, { runId }: Subscription, untilRest: boolean): boolean {
  return (type === "done" && (runId !== undefined || untilRest)) || (type === "waiting" && untilRest);
}

/** As many facts as may be kept for a reader; the others stay in the store until it comes for them. */
function upTo(facts: readonly Fact[], most: number): readonly Fact[] {
  if (facts.length < 2) return facts; // what is written now comes one by one: it needs no measuring
  let size = 0;
  const cut = facts.findIndex((fact, index) => {
    size += JSON.stringify(fact).length;
    return size > most && index > 0;
  });
  return cut === -1 ? facts : facts.slice(0, cut);
}

function slowReader(cursor: Cursor): SlowReader {
  const message = `The reader of the session "${cursor.sessionId}" is too far behind: subscribe again after ${cursor.seq}.`;
  return Object.assign(new AgentError("aborted", message, { retryable: true }), { cursor });
}
