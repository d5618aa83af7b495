import type { Fact } from "../event.ts";
import { type CallPart, type ResultEntry, toPlainText } from "../history.ts";
import { type Json, toCanonicalJson } from "../json.ts";
import { addFragment } from "./citations.ts";
import { mergeNestedRun } from "./nested-state.ts";
import type { Call, RunState, State, ToolCallRecord, TurnState } from "./state.ts";

/** Only when each call has its result, and in call order: what a run has found does not depend on which tool was faster. */
export function completeTurn(state: State, run: RunState, turnState: TurnState): void {
  if (turnState.message) state.history.push(turnState.message);
  for (const call of turnState.calls.values()) {
    if (call.result) state.history.push(call.result);
    recordCall(state, run, { turnState, call });
  }
}

/** What a finished call leaves behind beside its result in the history. */
export function recordCall(
  state: State,
  run: RunState,
  { turnState, call }: { readonly turnState: TurnState; readonly call: Call },
): void {
  const { result, record } = call;
  if (!result || !record) return;
  mergeNestedRun(state, run, call);
  run.toolCalls.push(record);
  if (result.affected !== undefined) run.affected.push(result.affected);
  for (const fragment of result.contexts ?? []) addFragment(state, fragment);
  run.unknownTools = result.error?.code === "unknown_tool" ? run.unknownTools + 1 : 0;
  countRepeat(run, turnState, call);
}

/** Two calls are the same when they name the same tool and their arguments are equal. */
export function toCallKey({ name, input, raw }: CallPart): string {
  return `${name} ${raw ?? toCanonicalJson(input)}`;
}

function countRepeat(run: RunState, turnState: TurnState, { part, result }: Call): void {
  const key = toCallKey(part);
  const content = result ? `${result.status} ${toPlainText(result.content)}` : "";
  const seen = run.repeats.get(key);
  const isSame = seen?.content === content;
  const count = isSame ? seen.count + 1 : 1;
  const before = isSame ? (seen.turn === turnState.turn ? seen.before : seen.count) : 0;
  run.repeats.set(key, { content, count, turn: turnState.turn, before });
  if (count > (turnState.repeated?.count ?? 0)) turnState.repeated = { name: part.name, count, before };
}

type ResultFact = Extract<Fact, { type: "tool_call_result" }>;

/** What a result of a run tells about its call. */
export function toCallRecord(fact: ResultFact, input: Json): ToolCallRecord {
  const { id, name, result, status, attempts, ms } = fact;
  return { id, name, input, result, status, attempts, ms };
}

/** What of a result joins the history. */
export function toResultEntry(fact: ResultFact): ResultEntry {
  const { id, name, status, result, data, error, ui, contexts, affected, message, handle } = fact;
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
  };
}
