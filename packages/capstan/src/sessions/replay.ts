import { type Clock, sleep, systemClock } from "../base/clock.ts";
import { AgentError } from "../base/errors.ts";
import type { Event, Fact } from "../kernel/event.ts";
import { isInRun, loadSessionInfo, readFacts } from "../runtime/load-facts.ts";
import type { Store } from "../runtime/store.ts";
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
  let isKnown = false;
  let previousAt: number | undefined;
  for await (const page of readFacts(store, sessionId, Math.max(0, from - 1)))
    for (const fact of page) {
      if (runId !== undefined && !isInRun(fact, runId)) continue;
      isKnown = true;
      const events = deltas ? [...buildDeltas(fact), fact] : [fact];
      const gap = Math.max(0, fact.at - (previousAt ?? fact.at)) / events.length;
      for (const event of events) {
        await waitForGap(gap, options);
        yield event;
      }
      previousAt = fact.at;
    }
  if (isKnown) return;
  await loadSessionInfo(store, sessionId);
  if (runId !== undefined && (await store.findRun(runId))?.sessionId !== sessionId)
    throw new AgentError("unknown_run", `Session "${sessionId}" has no run "${runId}".`);
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
