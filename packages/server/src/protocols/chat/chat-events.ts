import type { Event, Json } from "capstan";
import { getText, toPlainText } from "capstan";
import { restartsMessage } from "capstan/client";
import type { EventView } from "../../event-views/event-view.ts";
import { createClientCallId } from "../call-ids.ts";
import { createChatCalls } from "./chat-calls.ts";

/*
 * The events of `POST /api/chat`: `event: NAME`, `data: JSON` (compact), an empty line. The names, with their fields in
 * this order:
 *
 * | event             | data                                                                          |
 * | ----------------- | ----------------------------------------------------------------------------- |
 * | content_delta     | delta                                                                         |
 * | tool_call_start   | id, name, arguments (an object)                                               |
 * | tool_call_result  | id, result (a text), is_error                                                 |
 * | approval_required | id, name, arguments, reason, approval_id; then a text that says so, and `done` |
 * | error             | code, message; then `done`                                                    |
 * | done              | nothing; once, and last                                                       |
 *
 * Calls are emitted one after another in the order of the model's message, each with its result, although they may
 * run in parallel. Nested runs are hidden. Pending approvals, and answers that did not come from the model, are
 * emitted as text. Text of a restarted message stays, and the new text follows after an empty line, because sent text
 * cannot be taken back.
 */

export type ChatEvent =
  | { readonly event: "content_delta"; readonly data: { readonly delta: string } }
  | {
      readonly event: "tool_call_start";
      readonly data: { readonly id: string; readonly name: string; readonly arguments: Json };
    }
  | {
      readonly event: "tool_call_result";
      readonly data: { readonly id: string; readonly result: string; readonly is_error: boolean };
    }
  | {
      readonly event: "approval_required";
      readonly data: {
        readonly id: string;
        readonly name: string;
        readonly arguments: Json;
        readonly reason: string;
        /** Approves or denies the call in the next request of a client that keeps the history. */
        readonly approval_id: string;
        /** A question of the tool; the approval has a `value`. */
        readonly question?: Json;
      };
    }
  | { readonly event: "error"; readonly data: { readonly code: string; readonly message: string } }
  | { readonly event: "done"; readonly data: Record<string, never> };

/** Formats a server-sent event. */
export function formatSseEvent(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Parses an event formatted by `formatSseEvent`; undefined for comments and anything else. */
export function parseSseEvent(text: string): { readonly event: string; readonly data: unknown } | undefined {
  const [, event, data] = /^event: ([^\n]+)\ndata: ([^\n]*)(?:\n|$)/.exec(text) ?? [];
  if (event === undefined || data === undefined) return undefined;
  try {
    return { event, data: JSON.parse(data) };
  } catch {
    return undefined;
  }
}

/** Returns what an error may reveal to the client. */
export type ErrorFormatter = (error: { readonly code: string; readonly message: string }) => {
  readonly code: string;
  readonly message: string;
};

/** Creates a function that converts the events of a run, one by one, to chat events. */
export function chatEvents(): (event: Event) => readonly ChatEvent[] {
  const calls = createChatCalls();
  /** Streamed text of the current message. */
  let streamedText = "";
  /** Text of the last complete message. */
  let lastText = "";
  /** The current message was restarted. */
  let isRestarted = false;
  /** By run and call: nested runs ask, too. */
  const pending = new Map<string, Approval>();

  /** Emits the part of a stored message that was not streamed. */
  function appendRest(text: string): readonly ChatEvent[] {
    return appendText(text.startsWith(streamedText) ? text.slice(streamedText.length) : "");
  }
  function appendText(delta: string): readonly ChatEvent[] {
    if (!delta) return [];
    streamedText += delta;
    const gap = isRestarted ? "\n\n" : "";
    isRestarted = false;
    return toTextEvents(gap + delta);
  }

  return (event) => {
    if (event.type === "approval_required") pending.set(`${event.runId} ${event.callId}`, event);
    if (event.type === "approval_resolved") pending.delete(`${event.runId} ${event.callId}`);
    if (event.parentRunId !== undefined) return [];
    if (restartsMessage(event)) {
      isRestarted ||= streamedText !== "";
      streamedText = "";
    }
    switch (event.type) {
      case "content_delta":
        return appendText(event.delta);
      case "turn_start":
        return calls.flush();
      case "message_partial":
        return appendRest(getText(event.entry));
      case "message": {
        lastText = getText(event.entry);
        const rest = appendRest(lastText);
        calls.expect(event.entry);
        streamedText = "";
        return rest;
      }
      case "tool_call_start":
        return calls.begin({ id: event.id, name: event.name, arguments: event.arguments });
      case "tool_call_result":
        return calls.settle(event.id, { result: toPlainText(event.result), is_error: event.is_error });
      case "handoff_return":
        return calls.settle(event.callId, { result: event.text, is_error: event.error !== undefined });
      case "waiting": {
        if (event.until !== undefined) return []; // the run resumes by itself
        const asked = [...pending.values()];
        const wanted = asked.map(describeApproval).join(" and ") || "external input";
        const text = toTextEvents(`${lastText && "\n\n"}Waiting for ${wanted}.`);
        return [...calls.flush(), ...asked.map((call) => toApprovalEvent(call, event.runId)), ...text, done];
      }
      case "done": {
        const { status, error } = event;
        if (status === "failed" || status === "cancelled") {
          const { code, message } = error ?? { code: status, message: event.text };
          return [...calls.flush(), { event: "error", data: { code, message } }, done];
        }
        return [...calls.flush(), ...toTextEvents(getMissingText(lastText, event.text)), done];
      }
      default:
        return [];
    }
  };
}

type Approval = Extract<Event, { readonly type: "approval_required" }>;

function describeApproval({ question, name, reason }: Approval): string {
  return `your ${question ? "answer to" : "approval of"} "${name}" (${reason})`;
}

function toApprovalEvent(approval: Approval, runId: string): ChatEvent {
  const { callId, name, input, reason } = approval;
  const { state: _, ...question } = approval.question ?? {}; // of the tool
  return {
    event: "approval_required",
    data: {
      ...{ id: callId, name, arguments: input, reason },
      approval_id: createClientCallId({ runId, callId }),
      ...(approval.question && { question: question as Json }),
    },
  };
}

/** The view that `POST /api/chat` streams by default. */
export const chatView: EventView = {
  description: "The simple chat: text, tool calls with their results, the end",
  create: chatEvents,
};

const done: ChatEvent = { event: "done", data: {} };

function toTextEvents(delta: string): readonly ChatEvent[] {
  return delta ? [{ event: "content_delta", data: { delta } }] : [];
}

/**
 * Returns the part of the answer that the model's last message does not contain. A limit's answer is not from the
 * model.
 */
export function getMissingText(lastText: string, answer: string): string {
  if (answer.trim() === lastText.trim()) return "";
  if (lastText !== "" && answer.startsWith(lastText)) return answer.slice(lastText.length);
  return lastText === "" ? answer : `\n\n${answer}`;
}
