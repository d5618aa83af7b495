import type { Clock } from "../clock.ts";
import type { DeltaBody, Event, Fact, FactBody, Origin, UnplacedFact } from "../event.ts";
import { createFactId } from "../ids.ts";
import type { NewRequest } from "../requests/stored-request.ts";
import { apply } from "../state/apply.ts";
import { findRunByCall, findRunState } from "../state/nested-state.ts";
import type { RunState, State } from "../state/state.ts";
import type { Lease, Store } from "../store.ts";
import type { Inbox } from "./inbox.ts";
import { openRequestLog, type PlacedRequest } from "./request-log.ts";

/** Writes the facts of one run: each fact is stored, then folded into the state, then emitted. */
export interface Log {
  /**
   * Resolves when the facts are stored and folded. `idSuffix` makes the ids of facts unique that may occur several times;
   * `acknowledged` are the keys of the stored messages that these facts deliver. Facts appended in the same tick are
   * stored together. Once the store has failed, every append rejects with that failure: nothing is emitted that is not
   * stored.
   */
  append(bodies: readonly FactBody[], idSuffix: string, acknowledged?: readonly string[]): Promise<void>;
  emit(delta: DeltaBody): void;
  /** Keeps a request to a model, to be stored with the next facts. Missing if the store keeps no requests. */
  addRequest?(request: NewRequest): void;
}

/** Identifies a nested run and the call it answers. */
export type NestedOrigin = Required<Pick<Origin, "runId" | "agent" | "parentRunId" | "parentCallId">>;

/** The log of a run and its nested runs: one writer, so that all their facts have one order. */
export interface SessionLog extends Log {
  nested(origin: NestedOrigin): Log;
}

type OpenLogOptions = {
  readonly store: Store;
  readonly lease: Lease;
  readonly state: State;
  readonly clock: Clock;
  readonly runId: string;
  /** The agent of a run that has not started yet. */
  readonly agent: string;
  emit(event: Event): void;
  /** Called when the store fails: effects in flight can no longer be recorded. */
  fail(error: unknown): void;
  /** Messages that are not in the log yet. */
  readonly inbox: Pick<Inbox, "isEmpty" | "close" | "reopen">;
};

export function openLog(options: OpenLogOptions): SessionLog {
  const { store, lease, state, clock, runId, agent, emit, fail, inbox } = options;
  const { sessionId } = state;
  let queue: PushedFacts[] = [];
  let lastTime = readTimeOfState(clock, state, runId);
  let acknowledgedKeys: string[] = [];
  let tail: Promise<void> = Promise.resolve();
  let open: Promise<void> | undefined;
  const requests = openRequestLog({ store, sessionId, runId, isNew: state.seq === 0 });

  function push(origin: RunOrigin, bodies: readonly FactBody[], idSuffix: string): Promise<void> {
    if (bodies.length === 0) return tail;
    const time = readTime(clock);
    const facts = bodies.map((body, index) => {
      const owner = findOwner(state, origin, body);
      const { retries = 0 } = findRun(state, owner.runId) ?? {};
      const source = { runId: owner.runId, retries };
      const id = createFactId(body, source, index === 0 ? idSuffix : `${idSuffix}.${index}`);
      const fact = Object.assign(withOrigin(body, owner, state), { id, at: time.at });
      return retries > 0 && body.type === "tool_call_result" ? { ...fact, retry: retries } : fact;
    });
    queue.push({ facts, time });
    if (!open) {
      open = tail = tail.then(commit);
      open.catch(fail);
    }
    return open;
  }

  async function commit(): Promise<void> {
    // Do not commit the end of a run while messages are queued: decide again with them applied.
    const pushed = inbox.isEmpty() ? queue : queue.filter(({ facts }) => !facts.some(isRunEnd));
    const batch = addElapsedTime(pushed, lastTime);
    const acknowledged = acknowledgedKeys;
    queue = [];
    acknowledgedKeys = [];
    open = undefined;
    if (batch.length === 0) return;
    // Refuse messages while the end is being written: they would be neither stored nor rejected.
    if (batch.some(isRunEnd)) inbox.close();
    let stored: readonly Fact[];
    try {
      const taking = requests?.take(state.seq + 1);
      const sent = taking && (await taking);
      stored = await store.append(batch, { expected: state.seq, lease, acknowledged, requests: sent });
    } catch (error) {
      inbox.reopen();
      throw error;
    }
    const fresh = selectFresh(stored, state.seq);
    // Fold the whole batch before emitting: a listener must not add messages after the end.
    for (const fact of fresh) apply(state, fact);
    if (fresh.length > 0) lastTime = pushed.at(-1)?.time ?? lastTime;
    for (const fact of fresh) emit(fact);
  }

  const createRunLog = (origin: RunOrigin): Log => ({
    append: (bodies, idSuffix) => push(origin, bodies, idSuffix),
    emit: (delta) => emit(withOrigin(delta, origin, state)),
    ...(requests && {
      addRequest: (request) => requests.add(placeRequest(request, origin, { state, clock })),
    }),
  });
  const self = { runId, agent };
  return {
    ...createRunLog(self),
    append(bodies, idSuffix, acknowledged = []) {
      acknowledgedKeys.push(...acknowledged);
      // A message for a nested run also wakes this run: processes that look for work only see the root run.
      const hasNested = state.run !== undefined && state.run.nested.size > 0;
      const isForNested = hasNested && bodies.some((body) => findOwner(state, self, body) !== self);
      return push(self, isForNested ? [{ type: "woken" }, ...bodies] : bodies, idSuffix);
    },
    nested: createRunLog,
  };
}

/** Returns the facts that were stored now. The others were stored by an earlier attempt, or repeat a fact. */
function selectFresh(stored: readonly Fact[], seq: number): readonly Fact[] {
  if (stored.every((fact, index) => fact.seq === seq + 1 + index)) return stored;
  const fresh: Fact[] = [];
  for (const fact of stored) if (fact.seq > (fresh.at(-1)?.seq ?? seq)) fresh.push(fact);
  return fresh;
}

function findRun(state: State, runId: string): RunState | undefined {
  return state.run?.id === runId ? state.run : findRunState(state, runId)?.run;
}

/** Both clocks, read at the same moment. */
type Time = { readonly at: number; readonly monotonic: number };
type PushedFacts = { readonly facts: readonly UnplacedFact[]; readonly time: Time };

const readTime = (clock: Clock): Time => ({ at: clock.now(), monotonic: clock.monotonic() });

/** A run that is resumed after a crash took no time in between. Waiting time is subtracted from that of the run. */
function readTimeOfState(clock: Clock, { run, at }: State, runId: string): Time {
  const isContinued = run?.id === runId && !run.waiting;
  return isContinued ? { at, monotonic: clock.monotonic() } : readTime(clock);
}

/** A larger difference between the two clocks is stored. Smaller ones are rounding and corrections of the wall clock. */
const maxDriftMs = 1000;

/** Adds `elapsedMs` where the wall clock does not show how much time has passed. */
function addElapsedTime(pushed: readonly PushedFacts[], lastTime: Time): readonly UnplacedFact[] {
  let previous = lastTime;
  const timed = pushed.map(({ facts, time }) => {
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

/** Fields are written out instead of spread: this runs for every fact and every delta. */
function withOrigin<Body extends FactBody | DeltaBody>(
  body: Body,
  origin: RunOrigin,
  state: State,
): Body & Origin {
  const run = findRun(state, origin.runId);
  const turn = body.type === "turn_start" ? body.turn : (run?.turn ?? 0);
  const { runId, parentRunId, parentCallId } = origin;
  const agent = run?.agent ?? origin.agent;
  const located = { ...body, runId, sessionId: state.sessionId, agent, turn };
  if (parentRunId === undefined || parentCallId === undefined) return located;
  return { ...located, parentRunId, parentCallId };
}

function placeRequest(
  request: NewRequest,
  { runId, agent }: RunOrigin,
  { state, clock }: { readonly state: State; readonly clock: Clock },
): PlacedRequest {
  const run = findRun(state, runId);
  return { ...request, runId, turn: run?.turn ?? 0, agent: run?.agent ?? agent, at: clock.now() };
}

type RunOrigin = Pick<Origin, "runId" | "agent" | "parentRunId" | "parentCallId">;

/** The run a fact belongs to: an answer to a call of a nested run belongs to that nested run. */
function findOwner({ run }: State, self: RunOrigin, body: FactBody): RunOrigin {
  if (run?.id !== self.runId || run.nested.size === 0) return self;
  if (body.type !== "approval_resolved" && body.type !== "tool_call_result") return self;
  const owner = findRunByCall(run, body.type === "tool_call_result" ? body.id : body.callId);
  if (!owner?.parent?.state.run) return self;
  const { state, callId } = owner.parent;
  return { runId: owner.id, agent: owner.agent, parentRunId: state.run?.id ?? "", parentCallId: callId };
}

function isRunEnd(fact: UnplacedFact): boolean {
  return fact.type === "done" && fact.parentRunId === undefined;
}
