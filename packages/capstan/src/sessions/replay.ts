import { type Clock, sleep, systemClock } from "../clock.ts";
import { AgentError } from "../errors.ts";
import type { Event, Fact } from "../event.ts";
import type { Store } from "../store.ts";
import { isInRun, loadFacts } from "./load-facts.ts";
import { replayDeltas } from "./replay-deltas.ts";

/** Settings of a replay. */
export type ReplayOptions = {
  /** Only the events of this run. */
  readonly runId?: string;
  /** The position of the first fact; 1 when left out. */
  readonly from?: number;
  /** 1 is as fast as it was, 10 ten times as fast. Left out: all at once. */
  readonly speed?: number;
  /** Whether messages are streamed again, made from what is stored: the pieces are not those of the first time. */
  readonly deltas?: boolean;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
};

/** The recorded events in order. Only reads: no model is asked, no tool runs, nothing is written. */
export async function* replay(
  store: Store,
  sessionId: string,
  options: ReplayOptions = {},
): AsyncGenerator<Event, void, undefined> {
  const { runId, from = 1, deltas = false } = options;
  assertSpeed(options.speed);
  const stored = await loadFacts(store, sessionId);
  const facts = stored.filter((fact) => fact.seq >= from && (runId === undefined || isInRun(fact, runId)));
  if (runId !== undefined && !stored.some((fact) => fact.runId === runId))
    throw new AgentError("unknown_run", `The session "${sessionId}" has no run "${runId}".`);
  let previousAt = facts[0]?.at ?? 0;
  for (const fact of facts) {
    const events = deltas ? [...buildDeltas(fact), fact] : [fact];
    const gap = Math.max(0, fact.at - previousAt) / events.length;
    for (const event of events) {
      await waitForGap(gap, options);
      yield event;
    }
    previousAt = fact.at;
  }
}

function buildDeltas(fact: Fact): readonly Event[] {
  return fact.type === "message" ? replayDeltas(fact) : [];
}

function assertSpeed(speed: number | undefined): void {
  if (speed === undefined || speed > 0) return;
  throw new AgentError("invalid_input", `The speed of a replay must be above 0, not ${speed}.`);
}

async function waitForGap(ms: number, { speed, signal, clock = systemClock }: ReplayOptions): Promise<void> {
  signal?.throwIfAborted();
  if (speed === undefined || ms === 0) return;
  await sleep(clock, ms / speed, signal ?? neverAborted);
}

const neverAborted = new AbortController().signal;
