import type { Clock } from "../base/clock.ts";
import { AgentError } from "../base/errors.ts";
import type { RequestLog } from "../features/exact-requests/request-log.ts";
import type { Event, Fact, UnplacedFact } from "../kernel/event.ts";
import type { State } from "../kernel/state.ts";
import { apply } from "./facts.ts";
import type { Inbox } from "./inbox.ts";
import type { Lease, Store } from "./store.ts";

/** Both clocks, read at the same moment. */
type Time = { readonly at: number; readonly monotonic: number };

/** Facts that arise at the same time. */
export type TimedFacts = { readonly facts: readonly UnplacedFact[]; readonly time: Time };

/** Stores facts in groups, folds them into the state, and emits them, in the same order. */
export interface FactWriter {
  /** Resolves when the facts, and all before them, are stored, folded and emitted. */
  write(added: TimedFacts, acknowledged?: readonly string[]): Promise<void>;
  /**
   * Resolves when the facts are folded. They are stored with the next ones, or soon after, and then emitted. Until then
   * the state is ahead of the store; if that fails, it stays so.
   */
  writeResult(added: TimedFacts): Promise<void>;
}

export type FactWriterOptions = {
  readonly store: Store;
  readonly lease: Lease;
  readonly state: State;
  readonly clock: Clock;
  readonly runId: string;
  emit(event: Event): void;
  /** Whether something in this process gets the events as they are emitted, and may send a message at once. */
  hasListener(): boolean;
  /**
   * Called when the store fails: effects in flight can no longer be recorded. `storedSeq` is the position of the last fact
   * that is known to be stored.
   */
  fail(error: unknown, storedSeq: number): void;
  /** Messages that are not in the log yet. */
  readonly inbox: Pick<Inbox, "isEmpty" | "close" | "reopen">;
};

/**
 * How many microtasks a result waits for the facts of the next decision, which need less than fifty. A result that waits in
 * vain, because other effects or a message delay the decision, is stored alone.
 */
const maxTicks = 200;

export function createFactWriter(options: FactWriterOptions, requests: RequestLog | undefined): FactWriter {
  const { state, clock, runId, emit, hasListener, fail, inbox } = options;
  let queue: TimedFacts[] = [];
  /** Facts that are folded and not stored. They precede those in the queue. */
  let folded: UnplacedFact[] = [];
  let isStoring = false;
  let lastTime = readTimeOfState(clock, state, runId);
  let acknowledgedKeys: string[] = [];
  let tail: Promise<void> = Promise.resolve();
  let open: Promise<void> | undefined;

  function scheduleCommit(): Promise<void> {
    if (!open) {
      open = tail = tail.then(commit);
      open.catch((error) => fail(error, state.seq - folded.length));
    }
    return open;
  }

  async function commit(): Promise<void> {
    for (let tick = 0; tick < maxTicks && queue.length === 0; tick++) await undefined;
    // Do not commit the end of a run while messages are queued: decide again with them applied.
    const queued = inbox.isEmpty() ? queue : queue.filter(({ facts }) => !facts.some(isRunEnd));
    const facts = [...folded, ...addElapsedTime(queued, lastTime)];
    const expected = state.seq - folded.length;
    const batch = { facts, expected, folded: folded.length, acknowledged: acknowledgedKeys };
    queue = [];
    acknowledgedKeys = [];
    open = undefined;
    if (facts.length === 0) return;
    isStoring = true;
    // Refuse messages while the end is being written: they would be neither stored nor rejected.
    if (facts.some(isRunEnd)) inbox.close();
    const stored = await storeBatch(options, batch, requests).catch(reopenInbox);
    isStoring = false;
    const unfolded = selectFresh(stored.slice(folded.length), state.seq);
    const fresh = [...stored.slice(0, folded.length), ...unfolded];
    folded = [];
    // Fold the whole batch before emitting: a listener must not add messages after the end.
    for (const fact of unfolded) apply(state, fact);
    if (unfolded.length > 0) lastTime = queued.at(-1)?.time ?? lastTime;
    for (const fact of fresh) emit(fact);
  }

  function reopenInbox(error: unknown): never {
    inbox.reopen();
    throw error;
  }

  function write(added: TimedFacts, acknowledged: readonly string[] = []): Promise<void> {
    acknowledgedKeys.push(...acknowledged);
    if (added.facts.length === 0) return tail;
    queue.push(added);
    return scheduleCommit();
  }

  return {
    write,
    async writeResult(added) {
      if (added.facts.length === 0) return;
      // A listener that fails at the facts before the end is reported, and no fact may follow the end.
      if (added.facts.some(isRunEnd)) await tail;
      // Facts are folded in the order in which they are stored.
      if (isStoring || queue.length > 0 || !canFold(added.facts, hasListener)) return write(added);
      for (const fact of addElapsedTime([added], lastTime)) {
        folded.push(fact);
        apply(state, { ...fact, seq: state.seq + 1 });
      }
      lastTime = added.time;
      void scheduleCommit();
    },
  };
}

type Batch = {
  readonly facts: readonly UnplacedFact[];
  readonly expected: number;
  /** How many of the facts are in the state already, at the positions after `expected`. */
  readonly folded: number;
  readonly acknowledged: readonly string[];
};

async function storeBatch(
  { store, lease }: FactWriterOptions,
  { facts, expected, folded, acknowledged }: Batch,
  requests: RequestLog | undefined,
): Promise<readonly Fact[]> {
  const taking = requests?.take(expected + 1);
  const sent = taking instanceof Promise ? await taking : taking;
  const stored = await store.append(facts, { expected, lease, acknowledged, requests: sent });
  if (stored.slice(0, folded).some(({ seq }, index) => seq !== expected + index + 1))
    throw createConflict(lease.sessionId);
  return stored;
}

/** Returns the facts that were stored now. The others were stored by an earlier attempt, or repeat a fact. */
function selectFresh(stored: readonly Fact[], seq: number): readonly Fact[] {
  if (stored.every((fact, index) => fact.seq === seq + 1 + index)) return stored;
  const fresh: Fact[] = [];
  for (const fact of stored) if (fact.seq > (fresh.at(-1)?.seq ?? seq)) fresh.push(fact);
  return fresh;
}

export const readTime = (clock: Clock): Time => ({ at: clock.now(), monotonic: clock.monotonic() });

/** A run that is resumed after a crash took no time in between. Waiting time is subtracted from that of the run. */
function readTimeOfState(clock: Clock, { run, at }: State, runId: string): Time {
  const isContinued = run?.id === runId && !run.waiting;
  return isContinued ? { at, monotonic: clock.monotonic() } : readTime(clock);
}

/** A larger difference between the two clocks is stored. Smaller ones are rounding and corrections of the wall clock. */
const maxDriftMs = 1000;

/** Adds `elapsedMs` where the wall clock does not show how much time has passed. */
function addElapsedTime(added: readonly TimedFacts[], lastTime: Time): readonly UnplacedFact[] {
  let previous = lastTime;
  const timed = added.map(({ facts, time }) => {
    const elapsedMs = time.monotonic - previous.monotonic;
    const driftMs = time.at - previous.at - elapsedMs;
    previous = time;
    if (Math.abs(driftMs) <= maxDriftMs) return facts;
    const [first, ...others] = facts;
    return first ? [{ ...first, elapsedMs }, ...others] : facts;
  });
  // Most facts are stored as soon as they are pushed.
  return timed.length === 1 && timed[0] ? timed[0] : timed.flat();
}

function isRunEnd(fact: UnplacedFact): boolean {
  return fact.type === "done" && fact.parentRunId === undefined;
}

const storedFirst: ReadonlySet<string> = new Set(["done", "warning"]);

/**
 * Whether the next decision may be made before this result is stored. Of several facts, a process that stopped may have
 * stored the first; a warning may repeat one. A message that a listener sends when a turn ends belongs to the next turn.
 */
function canFold([fact, ...others]: readonly UnplacedFact[], hasListener: () => boolean): boolean {
  if (fact === undefined || others.length > 0 || storedFirst.has(fact.type)) return false;
  return fact.type !== "turn_end" || !hasListener();
}

function createConflict(sessionId: string): AgentError {
  const message = `Another writer has stored facts of session "${sessionId}". Resume the run.`;
  return new AgentError("position_conflict", message);
}
