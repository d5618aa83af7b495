import type { Clock } from "../clock.ts";
import type { DeltaBody, Event, Fact, FactBody, Origin, UnplacedFact } from "../event.ts";
import { createFactId } from "../ids.ts";
import { apply } from "../state/apply.ts";
import { findRunByCall, findRunState } from "../state/nested-state.ts";
import type { State } from "../state/state.ts";
import type { Lease, Store } from "../store.ts";
import type { Inbox } from "./inbox.ts";

/** A run's way into its session's log: every fact is stored, then folded, then told. */
export interface Log {
  /**
   * Resolves when the facts are stored and folded. `acknowledged` are the keys of the messages in the store that they say. Facts appended in the same moment are stored together. Once the
   * store has failed, every append rejects with that failure: nothing is told that is not stored.
   */
  append(bodies: readonly FactBody[], place: string, acknowledged?: readonly string[]): Promise<void>;
  emit(delta: DeltaBody): void;
}

/** Of a nested run: who it is, and whose call it answers. */
export type NestedOrigin = Required<Pick<Origin, "runId" | "agent" | "parentRunId" | "parentCallId">>;

/** The log of a run and of those nested in it: one writer, so that facts of all of them have one order. */
export interface SessionLog extends Log {
  nested(origin: NestedOrigin): Log;
}

type Writing = {
  readonly store: Store;
  readonly lease: Lease;
  readonly state: State;
  readonly clock: Clock;
  readonly runId: string;
  /** Of a run that has not started yet. */
  readonly agent: string;
  tell(event: Event): void;
  /** The store has failed: nothing in flight can be recorded any more. */
  fail(error: unknown): void;
  /** What has been said and is not in the log yet. */
  readonly inbox: Pick<Inbox, "isEmpty" | "close" | "reopen">;
};

export function openLog({
  store,
  lease,
  state,
  clock,
  runId,
  agent,
  tell,
  fail,
  inbox,
}: Writing): SessionLog {
  const { sessionId } = state;
  let queue: UnplacedFact[][] = [];
  let acknowledgedKeys: string[] = [];
  let tail: Promise<void> = Promise.resolve();
  let open: Promise<void> | undefined;

  /** Written out, not spread: it is done for every fact and every piece of text. */
  function withOrigin<Body extends FactBody | DeltaBody>(body: Body, of: Given): Body & Origin {
    const run = findRunState(state, of.runId)?.run;
    const turn = body.type === "turn_start" ? body.turn : (run?.turn ?? 0);
    const { runId, parentRunId, parentCallId } = of;
    const placed = { ...body, runId, sessionId, agent: run?.agent ?? of.agent, turn };
    if (parentRunId === undefined || parentCallId === undefined) return placed;
    return { ...placed, parentRunId, parentCallId };
  }

  function push(of: Given, bodies: readonly FactBody[], place: string): Promise<void> {
    if (bodies.length === 0) return tail;
    const at = clock.now();
    queue.push(
      bodies.map((body, index) => {
        const owner = ownerOf(state, of, body);
        const id = createFactId(body, owner.runId, index === 0 ? place : `${place}.${index}`);
        return Object.assign(withOrigin(body, owner), { id, at });
      }),
    );
    if (!open) {
      open = tail = tail.then(commit);
      open.catch(fail);
    }
    return open;
  }

  async function commit(): Promise<void> {
    // The end of a run is not written over the head of someone who has just spoken: it is decided anew.
    const batch = (inbox.isEmpty() ? queue : queue.filter((facts) => !facts.some(isEnd))).flat();
    const acknowledged = acknowledgedKeys;
    queue = [];
    acknowledgedKeys = [];
    open = undefined;
    if (batch.length === 0) return;
    // While the end is being written nobody may speak: it would be neither stored nor refused.
    if (batch.some(isEnd)) inbox.close();
    const at = { expected: state.seq, lease, ...(acknowledged.length > 0 && { acknowledged }) };
    const placed = await store.append(batch, at).catch(failed);
    const fresh: Fact[] = []; // the others were stored by an earlier attempt, or said twice
    for (const fact of placed) if (fact.seq > (fresh.at(-1)?.seq ?? state.seq)) fresh.push(fact);
    // Folded together, then told: after an end, no listener is asked for something to add.
    for (const fact of fresh) apply(state, fact);
    for (const fact of fresh) tell(fact);
  }

  function failed(error: unknown): never {
    inbox.reopen();
    throw error;
  }

  const logOf = (of: Given): Log => ({
    append: (bodies, place) => push(of, bodies, place),
    emit: (delta) => tell(withOrigin(delta, of)),
  });
  const self = { runId, agent };
  return {
    ...logOf(self),
    append(bodies, place, acknowledged = []) {
      acknowledgedKeys.push(...acknowledged);
      // What a nested run is told wakes this one: whoever looks for work looks at it alone.
      const hasNested = state.run !== undefined && state.run.nested.size > 0;
      const isForNested = hasNested && bodies.some((body) => ownerOf(state, self, body) !== self);
      return push(self, isForNested ? [{ type: "woken" }, ...bodies] : bodies, place);
    },
    nested: logOf,
  };
}

type Given = Pick<Origin, "runId" | "agent" | "parentRunId" | "parentCallId">;

/** Who a fact is about: what people and clients say to a call of a nested run belongs to that run. */
function ownerOf({ run }: State, self: Given, body: FactBody): Given {
  if (run?.id !== self.runId || run.nested.size === 0) return self;
  if (body.type !== "approval_resolved" && body.type !== "tool_call_result") return self;
  const owner = findRunByCall(run, body.type === "tool_call_result" ? body.id : body.callId);
  if (!owner?.parent?.state.run) return self;
  const { state, callId } = owner.parent;
  return { runId: owner.id, agent: owner.agent, parentRunId: state.run?.id ?? "", parentCallId: callId };
}

function isEnd(fact: UnplacedFact): boolean {
  return fact.type === "done" && fact.parentRunId === undefined;
}
