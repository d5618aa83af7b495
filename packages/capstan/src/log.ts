import { apply } from "./apply.ts";
import type { Clock } from "./clock.ts";
import {
  type DeltaBody,
  type Event,
  type Fact,
  type FactBody,
  factId,
  type Origin,
  type UnplacedFact,
} from "./event.ts";
import type { Inbox } from "./inbox.ts";
import type { State } from "./state.ts";
import type { Lease, Store } from "./store.ts";

/** A run's way into its session's log: every fact is stored, then folded, then told. */
export interface Log {
  /**
   * Resolves when the facts are stored and folded. `heard` are the keys of the messages in the store that they say. Facts appended in the same moment are stored together. Once the
   * store has failed, every append rejects with that failure: nothing is told that is not stored.
   */
  append(bodies: readonly FactBody[], place: string, heard?: readonly string[]): Promise<void>;
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
  /** What has been said and is not in the log yet. */
  readonly inbox: Pick<Inbox, "isEmpty" | "close" | "reopen">;
};

export function openLog({ store, lease, state, clock, runId, agent, tell, fail, inbox }: Writing): Log {
  const { sessionId } = state;
  let queue: UnplacedFact[][] = [];
  let heardKeys: string[] = [];
  let tail: Promise<void> = Promise.resolve();
  let open: Promise<void> | undefined;

  function origin(body?: FactBody): Origin {
    const run = state.run?.id === runId ? state.run : undefined;
    const turn = body?.type === "turn_start" ? body.turn : (run?.turn ?? 0);
    return { runId, sessionId, agent: run?.agent ?? agent, turn };
  }

  async function commit(): Promise<void> {
    // The end of a run is not written over the head of someone who has just spoken: it is decided anew.
    const batch = (inbox.isEmpty() ? queue : queue.filter((facts) => !facts.some(isEnd))).flat();
    const heard = heardKeys;
    queue = [];
    heardKeys = [];
    open = undefined;
    if (batch.length === 0) return;
    // While the end is being written nobody may speak: it would be neither stored nor refused.
    if (batch.some(isEnd)) inbox.close();
    const at = { expected: state.seq, lease, ...(heard.length > 0 && { heard }) };
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

  return {
    append(bodies, place, heard = []) {
      if (bodies.length === 0) return tail;
      heardKeys.push(...heard);
      const at = clock.now();
      queue.push(
        bodies.map((body, index) => {
          const id = factId(body, runId, index === 0 ? place : `${place}.${index}`);
          return { ...body, ...origin(body), id, at };
        }),
      );
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

function isEnd(fact: UnplacedFact): boolean {
  return fact.type === "done";
}
