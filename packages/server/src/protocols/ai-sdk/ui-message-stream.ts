import type { Citation, Event } from "capstan";
import { getText, toPlainText } from "capstan";
import { type ShowError, unsaid } from "../chat/chat-events.ts";
import { spokenParts, toolParts, type UiChunk } from "./ui-message-parts.ts";

/*
 * The UI message stream of the AI SDK, version 1: `data: JSON` for each chunk, `data: [DONE]` last. One run is one message of
 * the assistant, whose id is that of the run, and a turn is a step of it. A run that goes on after an approval goes on with
 * the same message. Only chunks and fields that clients since `ai` 6 know are used, but for `reset-step` (a model says its
 * message anew) and `tool-approval-response` (an approval that a replay shows). A nested run is the inside of its call: of it,
 * only calls are shown that a person is asked about.
 */

/** What becomes of each event. */
export const uiMessageMapping: Readonly<Record<string, string>> = {
  run_start: "start",
  turn_start: "start-step",
  content_delta: "text-start, text-delta, text-end",
  reasoning_delta: "reasoning-start, reasoning-delta, reasoning-end",
  tool_call_delta: "tool-input-start, tool-input-delta",
  message: "tool-input-available (tool-input-error), source-url, source-document",
  message_restart: "reset-step",
  tool_progress: "tool-output-available (preliminary)",
  tool_call_result: "tool-output-available, -error or -denied; data-ui",
  approval_required: "tool-approval-request, data-approval",
  approval_resolved: "tool-approval-response (in a replay)",
  handoff: "data-handoff",
  steered: "data-steered",
  turn_end: "finish-step",
  waiting: "finish (tool-calls)",
  done: "finish with usage, abort or error; [DONE]",
};

export type UiStreamOptions = {
  readonly runId: string;
  readonly sessionId: string;
  /** The calls that the client's message has already. */
  readonly shown?: Iterable<string>;
  readonly showError?: ShowError;
};

/** Turns the events of a run, or of what is left of it, into chunks. */
export interface UiMessageStream {
  begin(): readonly UiChunk[];
  hear(event: Event): readonly UiChunk[];
  /** There is nothing more to hear: says how it ended, unless that was said. */
  end(): readonly UiChunk[];
}

/** A chunk as it is written. */
export function uiFrame(chunk: UiChunk): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

/** The last frame. */
export const lastUiFrame = "data: [DONE]\n\n";

type EventOf<Type extends Event["type"]> = Extract<Event, { readonly type: Type }>;

/** For one answer to one request. */
export function uiMessageStream({ runId, sessionId, shown, showError }: UiStreamOptions): UiMessageStream {
  const speech = spokenParts();
  const calls = toolParts(shown);
  let isStepOpen = false;
  let isOver = false;
  /** Of the last whole message. */
  let last = "";
  let finish: EventOf<"message">["finish"] | undefined;

  function openStep(): readonly UiChunk[] {
    if (isStepOpen) return [];
    isStepOpen = true;
    return [{ type: "start-step" }];
  }
  function closeStep(): readonly UiChunk[] {
    const chunks = [...speech.close(), ...(isStepOpen ? [{ type: "finish-step" }] : [])];
    isStepOpen = false;
    return chunks;
  }
  function reset(): readonly UiChunk[] {
    speech.forget();
    calls.forgetStep();
    return [...openStep(), { type: "reset-step" }];
  }

  function message({ entry, citations = [], ...said }: EventOf<"message">): readonly UiChunk[] {
    last = getText(entry);
    finish = said.finish;
    const first = speech.isStartOf(entry) ? openStep() : reset();
    return [
      ...first,
      ...speech.complete(entry),
      ...entry.parts.flatMap((part) => (part.type === "call" ? calls.available(part) : [])),
      ...citations.map(sourceOf),
    ];
  }

  function done(event: EventOf<"done">): readonly UiChunk[] {
    isOver = true;
    const isAnswered = event.status === "done" || event.status === "limit";
    const rest = isAnswered ? unsaid(last, event.text) : "";
    return [...speech.say("text", rest), ...closeStep(), endOf(event, finish, showError)];
  }

  return {
    begin: () => [{ type: "start", messageId: runId, messageMetadata: { runId, sessionId } }],
    hear(event) {
      if (event.parentRunId !== undefined) return calls.hear(event, true);
      switch (event.type) {
        case "turn_start":
          calls.hear(event);
          return [...closeStep(), ...openStep()];
        case "content_delta":
          return [...openStep(), ...speech.say("text", event.delta)];
        case "reasoning_delta":
          return [...openStep(), ...speech.say("reasoning", event.delta)];
        case "tool_call_delta":
          return [...openStep(), ...speech.close(), ...calls.hear(event)];
        case "message_restart":
          return reset();
        case "message":
          return message(event);
        case "turn_end":
          return closeStep();
        case "done":
          return done(event);
        default:
          return [...calls.hear(event), ...asideOf(event)];
      }
    },
    end: () => (isOver ? [] : [...closeStep(), { type: "finish", finishReason: "tool-calls" }]),
  };
}

/** What this stream has no chunk for. */
function asideOf(event: Event): readonly UiChunk[] {
  if (event.type === "handoff") return [{ type: "data-handoff", data: { from: event.from, to: event.to } }];
  if (event.type === "steered")
    return [{ type: "data-steered", data: { text: toPlainText(event.entry.content) } }];
  return [];
}

/** The last chunk of a run that is over. */
function endOf(
  { status, error, text, usage, cost }: EventOf<"done">,
  finish: EventOf<"message">["finish"] | undefined,
  showError: ShowError | undefined,
): UiChunk {
  if (status === "cancelled") return { type: "abort", reason: text };
  if (status === "failed") {
    const failure = error ?? { code: status, message: text };
    return { type: "error", errorText: (showError?.(failure) ?? failure).message };
  }
  const isCut = finish === "length" || error?.code === "budget_tokens";
  const finishReason = isCut ? "length" : finish === "content_filter" ? "content-filter" : "stop";
  return {
    type: "finish",
    finishReason,
    messageMetadata: { status, usage, cost, ...(error && { code: error.code }) },
  };
}

/** A source, as a link only where following it can do nothing but open a page. */
function sourceOf({ id, title, url }: Citation): UiChunk {
  if (url !== undefined && /^https?:\/\//i.test(url)) return { type: "source-url", sourceId: id, url, title };
  return { type: "source-document", sourceId: id, mediaType: "text/plain", title };
}
