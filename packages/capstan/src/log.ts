import { apply } from "./apply.ts";
import type { Clock } from "./clock.ts";
import {
  type DeltaBody,
  type Event,
  type FactBody,
  factId,
  type Origin,
  type UnplacedFact,
} from "./event.ts";
import type { State } from "./state.ts";
import type { Lease, Store } from "./store.ts";

/** A run's way into its session's log: every fact is stored, then folded, then told. */
export interface Log {
  /**
   * Resolves when the facts are stored and folded. Facts appended in the same moment are stored together. Once the
   * store has failed, every append rejects with that failure: nothing is told that is not stored.
   */
  append(bodies: readonly FactBody[], place: string): Promise<void>;
  emit(delta: DeltaBody): void;
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
};

export function openLog({ store, lease, state, clock, runId, agent, tell, fail }: Writing): Log {
  const { sessionId } = state;
  let queue: UnplacedFact[] = [];
  let tail: Promise<void> = Promise.resolve();
  let open: Promise<void> | undefined;

  function origin(body?: FactBody): Origin {
    const run = state.run?.id === runId ? state.run : undefined;
    const turn = body?.type === "turn_start" ? body.turn : (run?.turn ?? 0);
    return { runId, sessionId, agent: run?.agent ?? agent, turn };
  }

  async function commit(): Promise<void> {
    const batch = queue;
    queue = [];
    open = undefined;
    for (const fact of await store.append(batch, { expected: state.seq, lease })) {
      if (fact.seq <= state.seq) continue; // stored by an earlier attempt
      apply(state, fact);
      tell(fact);
    }
  }

  return {
    append(bodies, place) {
      if (bodies.length === 0) return tail;
      for (const [index, body] of bodies.entries()) {
        const id = factId(body, runId, index === 0 ? place : `${place}.${index}`);
        queue.push({ ...body, ...origin(body), id, at: clock.now() });
      }
      if (!open) {
        open = tail = tail.then(commit);
        open.catch(fail);
      }
      return open;
    },
    emit(delta) {
      tell({ ...delta, ...origin() });
    },
  };
}
