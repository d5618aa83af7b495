import { type Json, toCanonicalJson } from "../base/json.ts";
import { addFragment } from "../features/citations/fragments.ts";
import { mergeNestedRun } from "../features/nested/merge-nested-run.ts";
import { backgroundWorkName } from "./agent.ts";
import { correctEstimate } from "./context-size.ts";
import type { Fact } from "./event.ts";
import { type CallPart, type ResultEntry, toPlainText } from "./history.ts";
import type { Usage } from "./model.ts";
import {
  addUsage,
  type Call,
  clearCrashes,
  type RunState,
  type State,
  type ToolCallRecord,
  type TurnState,
} from "./state.ts";

/** Adds a turn to the history once every call has a result, in call order: the outcome does not depend on timing. */
export function completeTurn(state: State, run: RunState, turnState: TurnState): void {
  if (turnState.message) state.history.push(turnState.message);
  for (const call of turnState.calls.values()) {
    if (call.result) state.history.push(call.result);
    recordCall(state, run, { turnState, call });
  }
}

/** Records a finished call: its fragments, changes, nested run, and repetition count. */
export function recordCall(
  state: State,
  run: RunState,
  { turnState, call }: { readonly turnState: TurnState; readonly call: Call },
): void {
  const { result, record } = call;
  if (!result || !record) return;
  // The answer of a background run comes later.
  const child = run.nested.get(call.part.id);
  if (child && !child.run?.isBackground) mergeNestedRun(state, run, call.part);
  run.toolCalls.push(record);
  if (result.affected !== undefined) run.affected.push(result.affected);
  if (result.contexts) run.hasSearched = true;
  for (const fragment of result.contexts ?? []) addFragment(state, fragment);
  run.unknownTools = result.error?.code === "unknown_tool" ? run.unknownTools + 1 : 0;
  // A model that waits for background work may ask repeatedly.
  if (call.part.name !== backgroundWorkName) countRepeat(run, turnState, call);
}

/** Returns a key that is equal for calls of the same tool with equal arguments. */
export function toCallKey({ name, input, raw }: CallPart): string {
  return `${name} ${raw ?? toCanonicalJson(input)}`;
}

function countRepeat(run: RunState, turnState: TurnState, { part, result }: Call): void {
  const key = toCallKey(part);
  const content = result ? `${result.status} ${toPlainText(result.content)}` : "";
  const previous = run.repeats.get(key);
  const isSame = previous?.content === content;
  const count = isSame ? previous.count + 1 : 1;
  const before = isSame ? (previous.turn === turnState.turn ? previous.before : previous.count) : 0;
  run.repeats.set(key, { content, count, turn: turnState.turn, before });
  if (count > (turnState.repeated?.count ?? 0)) turnState.repeated = { name: part.name, count, before };
}

type ResultFact = Extract<Fact, { type: "tool_call_result" }>;

export function toCallRecord(fact: ResultFact, input: Json): ToolCallRecord {
  const { id, name, result, status, attempts, ms } = fact;
  return { id, name, input, result, status, attempts, ms };
}

export function toResultEntry(fact: ResultFact): ResultEntry {
  const { id, name, status, result, data, error, ui, contexts, affected, message, handle } = fact;
  const { isPartial, reads } = fact;
  return {
    type: "result",
    callId: id,
    name,
    status,
    content: result,
    ...(data !== undefined && { data }),
    ...(error && { error: { code: error.code, message: error.message } }),
    ...(ui && { ui }),
    ...(contexts && { contexts }),
    ...(affected !== undefined && { affected }),
    ...(message !== undefined && { message }),
    ...(handle !== undefined && { handle }),
    ...(isPartial && { isPartial }),
    ...(reads && { reads }),
  };
}

/** Counts a finished model call. A continuation also sends the message so far, which is not in the history yet. */
export function addModelUsage(
  state: State,
  currentTurn: TurnState,
  { usage, retryUsage }: { readonly usage: Usage; readonly retryUsage?: Usage },
): void {
  const { run } = state;
  if (!run) return;
  if (!currentTurn.partial) correctEstimate(state, usage);
  clearCrashes(run);
  currentTurn.failingSince = undefined;
  currentTurn.suspensions = 0;
  run.usage = addUsage(run.usage, usage, retryUsage);
  currentTurn.usage = addUsage(currentTurn.usage, usage, retryUsage);
}
