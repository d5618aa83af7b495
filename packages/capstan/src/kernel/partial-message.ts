import { reserveNumbers } from "../features/hosted/fold.ts";
import { addModelUsage } from "./complete-turn.ts";
import type { Fact } from "./event.ts";
import { getText } from "./history.ts";
import type { RunState, State } from "./state.ts";

/** Keeps what the model said before it stopped; the next call continues it. */
export function addPartialMessage(
  state: State,
  run: RunState,
  fact: Extract<Fact, { type: "message_partial" }>,
): void {
  const { currentTurn } = run;
  if (!currentTurn) return;
  addModelUsage(state, currentTurn, fact);
  const { entry, stopReason, candidate, citations = [] } = fact;
  const { length = 0, pause = 0 } = currentTurn.partial?.counts ?? {};
  const counts = stopReason === "length" ? { length: length + 1, pause } : { length, pause: pause + 1 };
  currentTurn.partial = { entry, citations, stopReason, counts, candidate, isShown: true };
  currentTurn.failure = undefined;
  run.stopReason = stopReason;
  const text = getText(entry).trim();
  if (text) Object.assign(run, { lastText: text, citations });
  if (fact.citations) reserveNumbers(state, fact.citations);
}

/** Called for facts after which readers discard the text of an unfinished message. */
export function discardDeltas({ currentTurn }: RunState): void {
  if (currentTurn?.partial) currentTurn.partial.isShown = false;
}
