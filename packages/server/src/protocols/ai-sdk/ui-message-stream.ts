import type { Citation, Event } from "capstan";
import { type GeneratedMedia, getAnswerText, getMedia, getText, toPlainText } from "capstan";
import { type ErrorFormatter, getMissingText } from "../chat/chat-events.ts";
import { trackDiscards } from "../track-discards.ts";
import { createTextParts, createToolParts, type UiChunk } from "./ui-message-parts.ts";

/*
 * The UI message stream of the AI SDK, version 1: `data: JSON` for each chunk, then `data: [DONE]`. A run is one
 * assistant message with the run's id, a turn is a step. A run that continues after an approval continues the same
 * message. Uses only chunks and fields known since `ai` 6, except `reset-step` (a restarted message) and
 * `tool-approval-response` (an approval in a replay). Of nested runs, only calls that need approval are shown.
 */

/** Maps each event, for the documentation. */
export const uiMessageMapping: Readonly<Record<string, string>> = {
  run_start: "start",
  turn_start: "start-step",
  content_delta: "text-start, text-delta, text-end",
  reasoning_delta: "reasoning-start, reasoning-delta, reasoning-end",
  tool_call_delta: "tool-input-start, tool-input-delta",
  message: "tool-input-available (tool-input-error), source-url, source-document, file (generated media)",
  message_restart: "reset-step",
  tool_progress: "tool-output-available (preliminary)",
  tool_call_result: "tool-output-available, -error or -denied; data-ui",
  approval_required: "tool-approval-request, data-approval",
  approval_resolved: "tool-approval-response (in a replay)",
  retry: "data-retry (transient)",
  handoff: "data-handoff",
  steered: "data-steered",
  turn_end: "finish-step",
  waiting: "finish (tool-calls); data-waiting (transient) until a time",
  done: "finish with usage, abort or error; [DONE]",
};

export type UiStreamOptions = {
  readonly runId: string;
  readonly sessionId: string;
  /** Calls that the client's message already contains. */
  readonly shown?: Iterable<string>;
  readonly formatError?: ErrorFormatter;
};

/** Encodes the events of a run, from any point of it. */
export interface UiMessageStream {
  begin(): readonly UiChunk[];
  encode(event: Event): readonly UiChunk[];
  /** Ends the stream. Reports pending calls unless the run has ended. */
  end(): readonly UiChunk[];
}

export function formatUiFrame(chunk: UiChunk): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

export const lastUiFrame = "data: [DONE]\n\n";

type EventOf<Type extends Event["type"]> = Extract<Event, { readonly type: Type }>;

/** The URL is the server's own, so that a page of the same origin can show the file. */
function toFileChunks({ mediaType, handle }: GeneratedMedia, sessionId: string): readonly UiChunk[] {
  if (handle === undefined) return [];
  const url = `/api/sessions/${encodeURIComponent(sessionId)}/blobs/${encodeURIComponent(handle)}`;
  return [{ type: "file", mediaType, url }];
}

export function createUiMessageStream({
  runId,
  sessionId,
  shown,
  formatError,
}: UiStreamOptions): UiMessageStream {
  const text = createTextParts();
  const calls = createToolParts(shown);
  let isStepOpen = false;
  const isDiscarded = trackDiscards();
  let isOver = false;
  /** Text of the last complete message. */
  let last = "";

  function openStep(): readonly UiChunk[] {
    if (isStepOpen) return [];
    isStepOpen = true;
    return [{ type: "start-step" }];
  }
  function closeStep(): readonly UiChunk[] {
    const chunks = [...text.close(), ...(isStepOpen ? [{ type: "finish-step" }] : [])];
    isStepOpen = false;
    return chunks;
  }
  function reset(): readonly UiChunk[] {
    text.reset();
    calls.resetStep();
    return [...openStep(), { type: "reset-step" }];
  }

  function encodeMessage({ entry, citations = [] }: EventOf<"message">): readonly UiChunk[] {
    last = getText(entry) || getAnswerText(entry);
    const first = text.isPrefixOf(entry) ? openStep() : reset();
    return [
      ...first,
      ...text.complete(entry),
      ...getMedia(entry).flatMap((part) => toFileChunks(part, sessionId)),
      ...entry.parts.flatMap((part) => (part.type === "call" ? calls.showInput(part) : [])),
      ...citations.map(toSourceChunk),
    ];
  }

  function encodeDone(event: EventOf<"done">): readonly UiChunk[] {
    isOver = true;
    const isAnswered = event.status === "done" || event.status === "limit";
    const rest = isAnswered ? getMissingText(last, event.text) : "";
    return [...text.append("text", rest), ...closeStep(), toEndChunk(event, formatError)];
  }

  return {
    begin: () => [{ type: "start", messageId: runId, messageMetadata: { runId, sessionId } }],
    encode(event) {
      if (event.parentRunId !== undefined) return calls.encode(event, true);
      if (isDiscarded(event)) return reset();
      switch (event.type) {
        case "turn_start":
          calls.encode(event);
          return [...closeStep(), ...openStep()];
        case "content_delta":
          return [...openStep(), ...text.append("text", event.delta)];
        case "reasoning_delta":
          return [...openStep(), ...text.append("reasoning", event.delta)];
        case "tool_call_delta":
          return [...openStep(), ...text.close(), ...calls.encode(event)];
        case "message":
          return encodeMessage(event);
        case "turn_end":
          return closeStep();
        case "done":
          return encodeDone(event);
        default:
          return [...calls.encode(event), ...toDataChunks(event)];
      }
    },
    end: () => (isOver ? [] : [...closeStep(), { type: "finish", finishReason: "tool-calls" }]),
  };
}

/** Events without a dedicated chunk become data chunks. */
function toDataChunks(event: Event): readonly UiChunk[] {
  if (event.type === "handoff") return [{ type: "data-handoff", data: { from: event.from, to: event.to } }];
  // Transient: shown while it lasts, but not part of the message.
  if (event.type === "retry") {
    const { attempt, code, waitMs } = event;
    return [{ type: "data-retry", data: { attempt, code, waitMs }, transient: true }];
  }
  if (event.type === "waiting" && event.until !== undefined)
    return [{ type: "data-waiting", data: { until: event.until }, transient: true }];
  if (event.type === "steered")
    return [{ type: "data-steered", data: { text: toPlainText(event.entry.content) } }];
  return [];
}

function toEndChunk(
  { status, error, text, usage, cost }: EventOf<"done">,
  formatError: ErrorFormatter | undefined,
): UiChunk {
  if (status === "cancelled") return { type: "abort", reason: text };
  if (status === "failed") {
    const failure = error ?? { code: status, message: text };
    return { type: "error", errorText: (formatError?.(failure) ?? failure).message };
  }
  const isCut = error?.code === "output_truncated" || error?.code === "budget_tokens";
  const finishReason = isCut ? "length" : error?.code === "answer_incomplete" ? "other" : "stop";
  return {
    type: "finish",
    finishReason,
    messageMetadata: { status, usage, cost, ...(error && { code: error.code }) },
  };
}

/** Emits a link only for http URLs, which can do nothing but open a page. */
function toSourceChunk({ id, title, url }: Citation): UiChunk {
  if (url !== undefined && /^https?:\/\//i.test(url)) return { type: "source-url", sourceId: id, url, title };
  return { type: "source-document", sourceId: id, mediaType: "text/plain", title };
}
