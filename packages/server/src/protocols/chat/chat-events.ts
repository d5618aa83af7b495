import type { Event, Json } from "capstan";
import { getText, toPlainText } from "capstan";
import { shownCalls } from "./chat-calls.ts";

/*
 * The events of `POST /api/chat`: `event: NAME`, `data: JSON` (compact), an empty line. Five names, with their fields in
 * this order:
 *
 * | event            | data                                                                          |
 * | ---------------- | ----------------------------------------------------------------------------- |
 * | content_delta    | delta                                                                         |
 * | tool_call_start  | id, name, arguments (an object)                                               |
 * | tool_call_result | id, result (a text), is_error                                                 |
 * | error            | code, message; then `done`                                                    |
 * | done             | nothing; once, and last                                                       |
 *
 * Calls are shown one after another in the order that the model said them, each with its result, though they may run
 * side by side. A nested run is the inside of a call, and is not shown. What cannot be said here is said in text: that a
 * run waits for a person, and an answer that is not the model's own. When a model begins a message anew, what was shown of it
 * stays, and the new words follow behind an empty line: text that has been sent cannot be taken back.
 */

/** An event of `POST /api/chat`. */
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
  | { readonly event: "error"; readonly data: { readonly code: string; readonly message: string } }
  | { readonly event: "done"; readonly data: Record<string, never> };

/** An event as it is written. */
export function formatSseEvent(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** An event as it was written by `formatSseEvent`; undefined for a comment, and for what is none. */
export function parseSseEvent(text: string): { readonly event: string; readonly data: unknown } | undefined {
  const [, event, data] = /^event: ([^\n]+)\ndata: ([^\n]*)(?:\n|$)/.exec(text) ?? [];
  if (event === undefined || data === undefined) return undefined;
  try {
    return { event, data: JSON.parse(data) };
  } catch {
    return undefined;
  }
}

/** What an error may say to whoever asked. */
export type ShowError = (error: { readonly code: string; readonly message: string }) => {
  readonly code: string;
  readonly message: string;
};

/** Turns the events of a run, one by one, into those of the chat. */
export function chatEvents(
  showError: ShowError = ({ code, message }) => ({ code, message }),
): (event: Event) => readonly ChatEvent[] {
  const calls = shownCalls();
  /** Of the message that is being said. */
  let said = "";
  /** Of the last whole message. */
  let last = "";
  /** What was shown of the message is void. */
  let isAgain = false;
  const waitsFor: string[] = [];

  function speak(delta: string): readonly ChatEvent[] {
    if (!delta) return [];
    said += delta;
    const gap = isAgain ? "\n\n" : "";
    isAgain = false;
    return text(gap + delta);
  }

  return (event) => {
    if (event.parentRunId !== undefined) return [];
    switch (event.type) {
      case "content_delta":
        return speak(event.delta);
      case "message_restart":
        isAgain ||= said !== "";
        said = "";
        return [];
      case "turn_start":
        said = "";
        return calls.flush();
      case "message": {
        last = getText(event.entry);
        const rest = speak(last.startsWith(said) ? last.slice(said.length) : "");
        calls.expect(event.entry);
        said = "";
        return rest;
      }
      case "tool_call_start":
        return calls.begin({ id: event.id, name: event.name, arguments: event.arguments });
      case "tool_call_result":
        return calls.settle(event.id, { result: toPlainText(event.result), is_error: event.is_error });
      case "handoff_return":
        return calls.settle(event.callId, { result: event.text, is_error: event.error !== undefined });
      case "approval_required":
        waitsFor.push(
          `your ${event.question ? "answer to" : "approval of"} "${event.name}" (${event.reason})`,
        );
        return [];
      case "waiting": {
        const asks = waitsFor.length > 0 ? ` for ${waitsFor.join(" and ")}` : " for an answer from outside";
        return [...calls.flush(), ...text(`${last && "\n\n"}Waiting${asks}.`), done];
      }
      case "done": {
        const { status, error } = event;
        if (status === "failed" || status === "cancelled") {
          const shown = showError(error ?? { code: status, message: event.text });
          return [...calls.flush(), { event: "error", data: shown }, done];
        }
        return [...calls.flush(), ...text(unsaid(last, event.text)), done];
      }
      default:
        return [];
    }
  };
}

const done: ChatEvent = { event: "done", data: {} };

function text(delta: string): readonly ChatEvent[] {
  return delta ? [{ event: "content_delta", data: { delta } }] : [];
}

/** What of an answer the last message of the model has not said: one that a limit gives is ours. */
export function unsaid(last: string, answer: string): string {
  if (answer.trim() === last.trim()) return "";
  if (last !== "" && answer.startsWith(last)) return answer.slice(last.length);
  return last === "" ? answer : `\n\n${answer}`;
}
