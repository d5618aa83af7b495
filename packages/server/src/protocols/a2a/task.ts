import { type Event, type Fact, getText, isContext, isFact, type Json, toPlainText } from "capstan";
import type { ErrorFormatter } from "../chat/chat-events.ts";
import { createDataPart, toA2aParts } from "./parts.ts";
import { trackPendingCalls } from "./pending-calls.ts";
import { createTaskRecord, type TaskRecord } from "./task-record.ts";
import type { A2aFrame, A2aPart, A2aPlace, A2aState, A2aTask } from "./wire.ts";

/*
 * A run as an A2A task. The artifact `answer` holds the agent's latest message and finally the text of the result.
 * Deltas append to it; the first delta of a message, including a restarted one, replaces it. Calls, results, handoffs
 * and questions are status messages with typed data parts. Text before a call is part of that status message, because
 * the next turn replaces the artifact. Nested runs are hidden except for their questions. The same fold produces
 * tasks and stream frames.
 */

/** Maps each event of a run, for the documentation. */
export const a2aMapping: { readonly [event: string]: string } = {
  run_start: "`task` SUBMITTED, the input in its history",
  turn_start: "`statusUpdate` WORKING, `metadata.turn`",
  content_delta: "`artifactUpdate` `answer`; `append` is false for the first of a message",
  message_restart: "the next `artifactUpdate` has `append` false",
  message:
    "the remaining text as `artifactUpdate`; with calls also WORKING: text, a data part `tool_call` for each",
  tool_call_result: "WORKING: data part `tool_result`, its files as `raw` parts",
  "approval_required + waiting": "INPUT_REQUIRED: text, a data part `approval` or `question` with the digest",
  "waiting (client tool)": "INPUT_REQUIRED: text, a data part `client_call`",
  "waiting until": "WORKING: text",
  "approval_resolved, woken": "WORKING",
  "handoff, handoff_return": "WORKING: text, data part of that name",
  steered: "in the history of the task",
  "done: done, limit":
    "the remaining text and the `output` as `artifactUpdate` (`lastChunk`), COMPLETED; `metadata`: usage, cost, status",
  "done: failed": "FAILED with text; REJECTED for `content_filter` and `security`",
  "done: cancelled": "CANCELED with text",
  "reasoning, progress, summaries, nested runs": "not shown",
};

export interface TaskProjection {
  apply(event: Event): readonly A2aFrame[];
  getState(): A2aState;
  getTask(): A2aTask;
}

type FactOf<Type extends Fact["type"]> = Extract<Fact, { readonly type: Type }>;

export function createTaskProjection(place: A2aPlace, showError: ErrorFormatter): TaskProjection {
  const record = createTaskRecord(place);
  const asks = trackPendingCalls();
  const known = new Set<string>();

  function encodeFact(fact: Fact): readonly A2aFrame[] {
    switch (fact.type) {
      case "run_start":
        return recordStart(record, fact);
      case "turn_start":
        record.resetText();
        return record.setStatus(fact, "TASK_STATE_WORKING", { metadata: { turn: fact.turn } });
      case "message":
        for (const part of fact.entry.parts) if (part.type === "call") known.add(part.id);
        return recordMessage(record, fact);
      case "tool_call_start":
        // A call that the model did not request is the fallback tool of a limit.
        return known.has(fact.id) ? [] : setWorking(record, fact, [createCallPart(fact)]);
      case "tool_call_result":
        return setWorking(record, fact, createResultParts(fact));
      case "handoff":
      case "handoff_return": {
        const { type, from, to, callId } = fact;
        return setWorking(record, fact, [
          { text: `"${to}" takes over.` },
          createDataPart({ type, from, to, callId }),
        ]);
      }
      case "steered":
        record.addMessage(fact, "ROLE_USER", toA2aParts(fact.entry.content));
        return [];
      case "waiting":
        if (fact.until !== undefined)
          return setWorking(record, fact, [{ text: `Resumes at ${new Date(fact.until).toISOString()}.` }]);
        return record.setStatus(fact, "TASK_STATE_INPUT_REQUIRED", { parts: asks.buildParts(fact.callIds) });
      case "done":
        return recordEnd(record, fact, showError);
      default:
        return [];
    }
  }
  function applyFact(fact: Fact): readonly A2aFrame[] {
    asks.add(fact);
    const isNested = fact.parentRunId !== undefined;
    const isRest = !isNested && (fact.type === "waiting" || fact.type === "done");
    // Any further fact means that the call was answered.
    const woken =
      !isRest && record.getState() === "TASK_STATE_INPUT_REQUIRED" ? setWorking(record, fact) : [];
    return isNested ? woken : [...woken, ...encodeFact(fact)];
  }

  return {
    apply(event) {
      if (isFact(event)) return applyFact(event);
      if (event.parentRunId !== undefined) return [];
      if (event.type === "message_restart") record.resetText();
      return event.type === "content_delta" ? record.appendText(event.delta) : [];
    },
    getState: record.getState,
    getTask: record.getTask,
  };
}

function setWorking(record: TaskRecord, fact: Fact, parts: readonly A2aPart[] = []): readonly A2aFrame[] {
  return record.setStatus(fact, "TASK_STATE_WORKING", { parts });
}

function recordStart(record: TaskRecord, fact: FactOf<"run_start">): readonly A2aFrame[] {
  record.setStart(fact);
  record.addMetadata({ agent: fact.agent });
  let context: readonly A2aPart[] = [];
  for (const [index, entry] of fact.input.entries()) {
    if (entry.type !== "user") continue;
    const parts = toA2aParts(entry.content);
    const isOver = index === fact.input.length - 1;
    // Data and files precede the text of their message.
    if (isContext(entry) && !isOver) context = [...context, ...parts];
    else {
      record.addMessage({ ...fact, id: `${fact.id}/${index}` }, "ROLE_USER", [...parts, ...context]);
      context = [];
    }
  }
  return [];
}

/** Adds text that was not streamed, and the calls. */
function recordMessage(record: TaskRecord, fact: FactOf<"message">): readonly A2aFrame[] {
  const text = getText(fact.entry);
  if (!text.startsWith(record.getText())) record.resetText();
  const frames = record.appendText(text.slice(record.getText().length));
  record.resetText();
  const calls = fact.entry.parts
    .filter((part) => part.type === "call")
    .map(({ id, name, input }) => createCallPart({ id, name, arguments: input }));
  if (calls.length === 0) return frames;
  return [...frames, ...setWorking(record, fact, [...(text ? [{ text }] : []), ...calls])];
}

type Call = { readonly id: string; readonly name: string; readonly arguments: Json };

function createCallPart({ id, name, arguments: given }: Call): A2aPart {
  return createDataPart({ type: "tool_call", id, name, arguments: given });
}

function createResultParts({ id, name, result, is_error }: FactOf<"tool_call_result">): readonly A2aPart[] {
  const files = toA2aParts(result).filter((part) => !("text" in part));
  return [createDataPart({ type: "tool_result", id, name, result: toPlainText(result), is_error }), ...files];
}

function recordEnd(record: TaskRecord, fact: FactOf<"done">, showError: ErrorFormatter): readonly A2aFrame[] {
  const { status, usage, cost, text, output, error } = fact;
  const metadata = { status, usage: { ...usage }, cost };
  record.addMetadata(metadata);
  if (status === "done" || status === "limit") {
    const data = output === undefined ? [] : [{ data: output, mediaType: "application/json" }];
    return [...record.setAnswer(text, data), ...record.setStatus(fact, "TASK_STATE_COMPLETED", { metadata })];
  }
  const { code, message } = showError(error ?? { code: status, message: text });
  const parts = [{ text: message }, createDataPart({ type: "error", code, message })];
  const state = status === "cancelled" ? "TASK_STATE_CANCELED" : toFailedState(code);
  return record.setStatus(fact, state, { parts, metadata });
}

/** A refusal is not a failure. */
function toFailedState(code: string): A2aState {
  return code === "content_filter" || code === "security" ? "TASK_STATE_REJECTED" : "TASK_STATE_FAILED";
}
