import { type Delta, type Event, type Fact, isFact } from "../event.ts";

/** What a listener has heard, over all its connections. */
export interface Hearing {
  lastFact(): Fact | undefined;
  /** A connection is about to be made, behind this position: what was heard of unfinished messages is said again. */
  begin(): number;
  /** What to tell of an event: nothing of a fact that was told before. */
  take(event: Event): readonly Event[];
}

/** Facts after which nothing is left of what was being said. */
const endOfWords: ReadonlySet<Event["type"]> = new Set([
  ...(["turn_start", "message", "model_failed", "waiting", "recovered", "done"] as const),
]);

/** Begins behind a position. */
export function hearing(after: number): Hearing {
  let position = after;
  let last: Fact | undefined;
  /** The runs that are in the middle of a message. */
  const speaking = new Set<string>();
  /** Those of them whose words were cut off by a lost connection. */
  let cutOff = new Set<string>();

  function takeFact(fact: Fact): readonly Event[] {
    if (fact.seq <= position) return [];
    position = fact.seq;
    last = fact;
    if (endOfWords.has(fact.type)) {
      speaking.delete(fact.runId);
      cutOff.delete(fact.runId);
    }
    return [fact];
  }

  return {
    lastFact: () => last,
    begin() {
      cutOff = new Set(speaking);
      return position;
    },
    take(event) {
      if (isFact(event)) return takeFact(event);
      const isAgain = cutOff.delete(event.runId);
      speaking.add(event.runId);
      return isAgain ? [restartOf(event), event] : [event];
    },
  };
}

function restartOf({ runId, sessionId, agent, turn, parentRunId, parentCallId }: Delta): Delta {
  const parents = parentRunId !== undefined && parentCallId !== undefined && { parentRunId, parentCallId };
  return { type: "message_restart", reason: "reconnected", runId, sessionId, agent, turn, ...parents };
}
