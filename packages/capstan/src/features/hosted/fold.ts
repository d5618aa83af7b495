import { toCallRecord } from "../../kernel/complete-turn.ts";
import type { Fact } from "../../kernel/event.ts";
import type { Citation } from "../../kernel/history.ts";
import { createFallbackId } from "../../kernel/ids.ts";
import { addLabels } from "../../kernel/provenance.ts";
import type { RunState, State } from "../../kernel/state.ts";

/** Whether a hosted fact is about a call of the provider. An imported one may be about a call to be made here. */
export function isHosted(
  { currentTurn, handoffs, id: runId }: RunState,
  { id }: { readonly id: string },
): boolean {
  if (currentTurn?.calls.has(id) || id === createFallbackId(runId)) return false;
  return !handoffs.some(({ call }) => call.part.id === id);
}

/**
 * Calls that the provider executed are counted, listed and labeled like others. They join no history entry: the
 * provider's message has them in its own form.
 */
export function startHosted(
  state: State,
  run: RunState,
  { id, name, arguments: input }: Extract<Fact, { type: "tool_call_start" }>,
): void {
  const { currentTurn } = run;
  if (!currentTurn || state.callIds.has(id)) return;
  run.startedCalls += 1;
  state.callIds.add(id);
  currentTurn.hosted ??= new Map();
  currentTurn.hosted.set(id, { name, input });
}

export function settleHosted(
  state: State,
  run: RunState,
  fact: Extract<Fact, { type: "tool_call_result" }>,
): void {
  const call = run.currentTurn?.hosted?.get(fact.id);
  if (!call) return;
  run.currentTurn?.hosted?.delete(fact.id);
  if (fact.reads) addLabels(state.labels, fact.reads, { tool: fact.name, turn: run.turn, input: call.input });
  run.toolCalls.push(toCallRecord(fact, call.input));
}

/** Keeps the numbers of sources that hosted tools found, so that no other source gets them. */
export function reserveNumbers({ numbers }: State, citations: readonly Citation[]): void {
  for (const { id, n } of citations) if (!numbers.has(id)) numbers.set(id, n);
}
