import { type Event, type Fact, getText, type Usage } from "capstan";
import { restartsMessage } from "capstan/client";
import { type ErrorFormatter, getMissingText } from "../chat/chat-events.ts";
import { toOpenaiError } from "../openai-error.ts";
import { findCallUsage, sumUsage } from "../sum-usage.ts";
import type { RunSegment } from "./ids.ts";
import { createResponseCalls } from "./response-calls.ts";
import {
  buildResponseObject,
  type ResponseInfo,
  type ResponseObject,
  type ResponseStatus,
  toEndStatus,
} from "./response-object.ts";
import { createResponseOutput, type ResponseEventBody, type ResponseOutput } from "./response-output.ts";
import { createTextWriter } from "./response-text.ts";

/*
 * The events of `POST /v1/responses`: `event: TYPE`, `data: JSON` with the same `type` and a `sequence_number` from
 * 0. First `response.created` and `response.in_progress`, then items (`response-output.ts`), then the end. A response
 * is one segment of a run: it ends when the run ends or waits for input. Its last items are the pending calls.
 */

/** Maps each event, for the documentation; other events are not sent. */
export const responsesMapping: Readonly<Partial<Record<Event["type"], string>>> = {
  run_start: "`response.created`, `response.in_progress`",
  content_delta:
    "`output_item.added` (`message`) and `content_part.added` before the first, `output_text.delta`",
  reasoning_delta:
    "`output_item.added` (`reasoning`) and `reasoning_summary_part.added` before the first, `reasoning_summary_text.delta`",
  message: "the remaining text, then `output_text.done`, `content_part.done`, `output_item.done`",
  message_restart: "`output_item.done` (`incomplete`); the item is removed from the final response",
  tool_call_start:
    "`output_item.added` (`mcp_call`), `mcp_call.in_progress`, `mcp_call_arguments.delta` and `.done`",
  tool_call_result: "`mcp_call.completed` or `.failed`, `output_item.done`",
  handoff: "the `mcp_call` of the handoff starts",
  waiting:
    "`mcp_approval_request` and `function_call` items, then `response.completed`; nothing while a stored run waits for a time",
  done: "`response.completed`, `.incomplete` (truncated, filtered or cancelled) or `.failed`, with the usage of all models",
};

export type ResponseEvent = ResponseEventBody & { readonly sequence_number: number };

export type ResponseOptions = ResponseInfo & {
  /** The segment to encode. */
  readonly place: RunSegment;
  /** Tools that the client runs. */
  readonly functions: ReadonlySet<string>;
  /** The answer must match an output schema. */
  readonly isFormed: boolean;
  readonly showError: ErrorFormatter;
};

/** Encodes one response; needs the events of its run from the start. */
export interface ResponseEncoder {
  /** Events of earlier segments update the state and return nothing. */
  encode(event: Event): readonly ResponseEvent[];
  isOver(): boolean;
  /** Creates the event for a response that cannot be completed. */
  fail(error: { readonly code: string; readonly message: string }): ResponseEvent;
  /** Returns the response so far. */
  getResponse(): ResponseObject;
}

export function createResponseEncoder(options: ResponseOptions): ResponseEncoder {
  const { segment } = options.place;
  let pending: ResponseEvent[] = [];
  let count = 0;
  const emit = (event: ResponseEventBody) => void pending.push({ ...event, sequence_number: count++ });
  const output = createResponseOutput(emit);
  const { trackEvent, encodeEvent } = createRunEncoder(options, { output, end: finish });
  let current: ResponseStatus = { status: "in_progress" };
  let segmentIndex = 1;
  let hasStarted = false;
  let createdAt = 0;
  const used: Usage[] = [];

  const getResponse = () =>
    buildResponseObject(options, current, {
      createdAt,
      output: output.getItems(),
      usage: used.reduce(sumUsage, noUsage),
    });

  function begin(): void {
    hasStarted = true;
    emit({ type: "response.created", response: getResponse() });
    emit({ type: "response.in_progress", response: getResponse() });
  }
  function finish(ending: ResponseStatus): void {
    current = ending;
    const { status } = ending;
    emit({ type: `response.${status === "cancelled" ? "incomplete" : status}`, response: getResponse() });
  }

  return {
    encode(event) {
      if (event.type === "retried" && event.parentRunId === undefined) current = { status: "in_progress" };
      if (current.status !== "in_progress") return [];
      if ("at" in event && !hasStarted) createdAt = event.at;
      trackEvent(event);
      if (segmentIndex < segment) {
        if (isSuspension(event)) segmentIndex++;
        return [];
      }
      if (!hasStarted) begin();
      const usage = findCallUsage(event);
      if (usage) used.push(usage);
      if (event.parentRunId === undefined) encodeEvent(event);
      const events = pending;
      pending = [];
      return events;
    },
    isOver: () => current.status !== "in_progress",
    fail(error) {
      const { code, message, param } = toOpenaiError(error).error;
      return { type: "error", code, message, param, sequence_number: count++ };
    },
    getResponse,
  };
}

type RunEncoderOptions = { readonly output: ResponseOutput; end(ending: ResponseStatus): void };

/** Encodes the run itself. Nested runs are hidden except for their questions. */
function createRunEncoder(options: ResponseOptions, { output, end }: RunEncoderOptions) {
  const text = createTextWriter({ ...options, output });
  const calls = createResponseCalls({ ...options, runId: options.place.runId, output });
  /** Text of the last complete message. */
  let last = "";

  function encodeWaiting({ callIds, until }: Extract<Fact, { readonly type: "waiting" }>): void {
    // A stored run resumes by itself.
    if (until !== undefined && options.sessionId !== undefined) return;
    text.addFinalText(calls.getQuestions(callIds).join("\n\n"));
    const time = until === undefined ? "for external input" : `until ${new Date(until).toISOString()}`;
    if (calls.suspend(callIds) === 0) text.addFinalText(`Waiting ${time}.`);
    end({ status: "completed" });
  }
  function encodeDone(fact: Extract<Fact, { readonly type: "done" }>): void {
    text.withdraw();
    calls.suspend([]);
    const ending = toEndStatus(fact, options.showError);
    if (ending.status === "completed" || ending.status === "incomplete")
      text.addFinalText(options.isFormed ? fact.text : getMissingText(last, fact.text).trimStart());
    end(ending);
  }

  return {
    /** Tracks state that later segments need. */
    trackEvent(event: Event): void {
      if (event.type === "approval_required") calls.addApproval(event);
      if (event.type === "approval_resolved") calls.resolve(event.callId);
      if (event.type !== "message" || event.parentRunId !== undefined) return;
      calls.expect(event.entry);
      last = getText(event.entry);
    },
    encodeEvent(event: Event): void {
      if (event.type === "content_delta") text.append("text", event.delta, event.turn);
      if (event.type === "reasoning_delta") text.append("reasoning", event.delta, event.turn);
      if (event.type === "tool_call_delta") text.endItem();
      if (restartsMessage(event)) text.withdraw();
      if (event.type === "message") text.complete(event);
      if (event.type === "tool_call_start")
        calls.begin(event.id, { name: event.name, arguments: toJsonText(event.arguments) });
      if (event.type === "handoff") calls.begin(event.callId);
      if (event.type === "tool_call_result") calls.settle(event);
      if (event.type === "waiting") encodeWaiting(event);
      if (event.type === "done") encodeDone(event);
    },
  };
}

/** Whether a run suspended to wait for input, which ends a segment. */
export function isSuspension(event: Event): boolean {
  return event.type === "waiting" && event.until === undefined && event.parentRunId === undefined;
}

function toJsonText(given: unknown): string {
  return typeof given === "string" ? given : JSON.stringify(given);
}

const noUsage: Usage = { inputTokens: 0, outputTokens: 0 };
