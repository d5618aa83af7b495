import { type Event, type Fact, getText, isFact, type Json, toPlainText } from "capstan";
import type { ShowError } from "../chat/chat-events.ts";
import { dataPart, sentParts } from "./parts.ts";
import { openAsks } from "./pending-calls.ts";
import { type TaskRecord, taskRecord } from "./task-record.ts";
import type { A2aFrame, A2aPart, A2aPlace, A2aState, A2aTask } from "./wire.ts";

/*
 * A run as an A2A task. The artifact `answer` is what the agent has said last, and in the end the text of the result: words
 * come as appended parts, the first of a message, also of one that is said again, takes the place of what was there. Calls,
 * their results, handoffs and questions are messages of the status, as data parts with a `type`; what the agent said before
 * its calls is in the same message, because the next turn takes the artifact. A nested run is the inside of a call, and is
 * not shown, except for what it asks. The same fold makes the task that is asked for and the frames of a stream.
 */

/** What becomes of each event of a run. */
export const a2aMapping: { readonly [event: string]: string } = {
  run_start: "`task` SUBMITTED, the input in its history",
  turn_start: "`statusUpdate` WORKING, `metadata.turn`",
  content_delta: "`artifactUpdate` `answer`; `append` is false for the first of a message",
  message_restart: "the next `artifactUpdate` has `append` false",
  message: "the rest as `artifactUpdate`; with calls also WORKING: text, a data part `tool_call` for each",
  tool_call_result: "WORKING: data part `tool_result`, its files as `raw` parts",
  "approval_required + waiting": "INPUT_REQUIRED: text, a data part `approval` or `question` with the digest",
  "waiting (client tool)": "INPUT_REQUIRED: text, a data part `client_call`",
  "waiting until": "WORKING: text",
  "approval_resolved, woken": "WORKING",
  "handoff, handoff_return": "WORKING: text, data part of that name",
  steered: "in the history of the task",
  "done: done, limit":
    "the rest and the `output` as `artifactUpdate` (`lastChunk`), COMPLETED; `metadata`: usage, cost, status",
  "done: failed": "FAILED with text; REJECTED for `content_filter` and `security`",
  "done: cancelled": "CANCELED with text",
  "reasoning, progress, summaries, nested runs": "not shown",
};

/** One task, told event by event. */
export interface TaskProjection {
  hear(event: Event): readonly A2aFrame[];
  state(): A2aState;
  task(): A2aTask;
}

type FactOf<Type extends Fact["type"]> = Extract<Fact, { readonly type: Type }>;

/** A task that has not heard anything yet. */
export function taskProjection(place: A2aPlace, showError: ShowError): TaskProjection {
  const record = taskRecord(place);
  const asks = openAsks();
  const known = new Set<string>();

  function own(fact: Fact): readonly A2aFrame[] {
    switch (fact.type) {
      case "run_start":
        return begun(record, fact);
      case "turn_start":
        record.hush();
        return record.become(fact, "TASK_STATE_WORKING", { metadata: { turn: fact.turn } });
      case "message":
        for (const part of fact.entry.parts) if (part.type === "call") known.add(part.id);
        return finished(record, fact);
      case "tool_call_start":
        // One that the model has not said is the fallback tool of a limit.
        return known.has(fact.id) ? [] : works(record, fact, [callPart(fact)]);
      case "tool_call_result":
        return works(record, fact, resultParts(fact));
      case "handoff":
      case "handoff_return": {
        const { type, from, to, callId } = fact;
        return works(record, fact, [{ text: `"${to}" takes over.` }, dataPart({ type, from, to, callId })]);
      }
      case "steered":
        record.note(fact, "ROLE_USER", sentParts(fact.entry.content));
        return [];
      case "waiting":
        if (fact.until !== undefined)
          return works(record, fact, [
            { text: `Goes on by itself at ${new Date(fact.until).toISOString()}.` },
          ]);
        return record.become(fact, "TASK_STATE_INPUT_REQUIRED", { parts: asks.parts(fact.callIds) });
      case "done":
        return ended(record, fact, showError);
      default:
        return [];
    }
  }
  function hearFact(fact: Fact): readonly A2aFrame[] {
    asks.hear(fact);
    const isNested = fact.parentRunId !== undefined;
    const isRest = !isNested && (fact.type === "waiting" || fact.type === "done");
    // Whatever happens next, somebody has answered.
    const woken = !isRest && record.state() === "TASK_STATE_INPUT_REQUIRED" ? works(record, fact) : [];
    return isNested ? woken : [...woken, ...own(fact)];
  }

  return {
    hear(event) {
      if (isFact(event)) return hearFact(event);
      if (event.parentRunId !== undefined) return [];
      if (event.type === "message_restart") record.hush();
      return event.type === "content_delta" ? record.speak(event.delta) : [];
    },
    state: record.state,
    task: record.task,
  };
}

function works(record: TaskRecord, fact: Fact, parts: readonly A2aPart[] = []): readonly A2aFrame[] {
  return record.become(fact, "TASK_STATE_WORKING", { parts });
}

function begun(record: TaskRecord, fact: FactOf<"run_start">): readonly A2aFrame[] {
  record.begin(fact);
  record.about({ agent: fact.agent });
  for (const [index, entry] of fact.input.entries())
    if (entry.type === "user")
      record.note({ ...fact, id: `${fact.id}/${index}` }, "ROLE_USER", sentParts(entry.content));
  return [];
}

/** What was not streamed of a message, and its calls. */
function finished(record: TaskRecord, fact: FactOf<"message">): readonly A2aFrame[] {
  const text = getText(fact.entry);
  if (!text.startsWith(record.said())) record.hush();
  const frames = record.speak(text.slice(record.said().length));
  record.hush();
  const calls = fact.entry.parts
    .filter((part) => part.type === "call")
    .map(({ id, name, input }) => callPart({ id, name, arguments: input }));
  if (calls.length === 0) return frames;
  return [...frames, ...works(record, fact, [...(text ? [{ text }] : []), ...calls])];
}

type Call = { readonly id: string; readonly name: string; readonly arguments: Json };

function callPart({ id, name, arguments: given }: Call): A2aPart {
  return dataPart({ type: "tool_call", id, name, arguments: given });
}

function resultParts({ id, name, result, is_error }: FactOf<"tool_call_result">): readonly A2aPart[] {
  const files = sentParts(result).filter((part) => !("text" in part));
  return [dataPart({ type: "tool_result", id, name, result: toPlainText(result), is_error }), ...files];
}

function ended(record: TaskRecord, fact: FactOf<"done">, showError: ShowError): readonly A2aFrame[] {
  const { status, usage, cost, text, output, error } = fact;
  const metadata = { status, usage: { ...usage }, cost };
  record.about(metadata);
  if (status === "done" || status === "limit") {
    const data = output === undefined ? [] : [{ data: output, mediaType: "application/json" }];
    return [...record.answer(text, data), ...record.become(fact, "TASK_STATE_COMPLETED", { metadata })];
  }
  const { code, message } = showError(error ?? { code: status, message: text });
  const parts = [{ text: message }, dataPart({ type: "error", code, message })];
  const state = status === "cancelled" ? "TASK_STATE_CANCELED" : failedState(code);
  return record.become(fact, state, { parts, metadata });
}

/** What somebody has decided not to do is not broken. */
function failedState(code: string): A2aState {
  return code === "content_filter" || code === "security" ? "TASK_STATE_REJECTED" : "TASK_STATE_FAILED";
}
