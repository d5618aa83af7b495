import { type Delta, type Event, type Fact, isFact } from "../kernel/event.ts";

/** Tracks what a subscription has received across its connections. */
export interface PositionTracker {
  getLastFact(): Fact | undefined;
  /** Call before connecting; returns the position to connect after. Deltas of unfinished messages will be sent again. */
  beginConnection(): number;
  /** Returns the events to emit: none for a fact that was received before. */
  accept(event: Event): readonly Event[];
}

/** Facts that end a streamed message. */
const messageEndTypes: ReadonlySet<Event["type"]> = new Set([
  ...(["turn_start", "message", "message_partial", "model_failed", "waiting", "recovered", "done"] as const),
]);

export function trackPosition(after: number): PositionTracker {
  let position = after;
  let last: Fact | undefined;
  /** Runs with an unfinished message. */
  const streamingRuns = new Set<string>();
  /** Runs whose message was interrupted by a lost connection. */
  let interruptedRuns = new Set<string>();

  function acceptFact(fact: Fact): readonly Event[] {
    if (fact.seq <= position) return [];
    position = fact.seq;
    last = fact;
    if (messageEndTypes.has(fact.type)) {
      streamingRuns.delete(fact.runId);
      interruptedRuns.delete(fact.runId);
    }
    return [fact];
  }

  return {
    getLastFact: () => last,
    beginConnection() {
      interruptedRuns = new Set(streamingRuns);
      return position;
    },
    accept(event) {
      if (isFact(event)) return acceptFact(event);
      const isRestart = interruptedRuns.delete(event.runId);
      streamingRuns.add(event.runId);
      return isRestart ? [createRestart(event), event] : [event];
    },
  };
}

function createRestart({ runId, sessionId, agent, turn, parentRunId, parentCallId }: Delta): Delta {
  const parents = parentRunId !== undefined && parentCallId !== undefined && { parentRunId, parentCallId };
  return { type: "message_restart", reason: "reconnected", runId, sessionId, agent, turn, ...parents };
}
