import { type Clock, sleep, systemClock } from "../clock.ts";
import { AgentError } from "../errors.ts";
import type { Event, Fact } from "../event.ts";
import type { Store } from "../store.ts";
import { isInRun, loadFacts } from "./load-facts.ts";
import { replayDeltas } from "./replay-deltas.ts";

export type ReplayOptions = {
  /** Restricts the replay to this run and its nested runs. */
  readonly runId?: string;
  /** Position of the first fact. Default: 1. */
  readonly from?: number;
  /** Playback speed: 1 is real time, 10 ten times as fast. Default: no delays. */
  readonly speed?: number;
  /** Also emits deltas, rebuilt from the stored messages. They are split differently than in the original stream. */
  readonly deltas?: boolean;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
};

/** Yields the recorded events in order. Read-only: calls no model or tool and writes nothing. */
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
    throw new AgentError("unknown_run", `Session "${sessionId}" has no run "${runId}".`);
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
  throw new AgentError("invalid_input", `The replay speed must be greater than 0, not ${speed}.`);
}

async function waitForGap(ms: number, { speed, signal, clock = systemClock }: ReplayOptions): Promise<void> {
  signal?.throwIfAborted();
  if (speed === undefined || ms === 0) return;
  await sleep(clock, ms / speed, signal ?? neverAborted);
}

const neverAborted = new AbortController().signal;
