import { type Event, type Fact, getText, type Usage } from "capstan";
import { type ShowError, unsaid } from "../chat/chat-events.ts";
import { openaiProblem } from "../openai-error.ts";
import type { RunLeg } from "./ids.ts";
import { callsOf } from "./response-calls.ts";
import {
  endingOf,
  type ResponseInfo,
  type ResponseObject,
  responseObject,
  type Standing,
} from "./response-object.ts";
import { type ResponseOutput, responseOutput, type Said } from "./response-output.ts";
import { speechOf } from "./response-text.ts";

/*
 * The events of `POST /v1/responses`: `event: TYPE`, `data: JSON` with the same `type` and a `sequence_number` from 0. First
 * `response.created` and `response.in_progress`, then items (`responses-output.ts`), then how it ended. A response is one leg
 * of a run: it is over when the run is, or when that waits for somebody; what it waits for are its last items.
 */

/** What each of our events becomes; those that are left out become nothing. */
export const responsesMapping: Readonly<Partial<Record<Event["type"], string>>> = {
  run_start: "`response.created`, `response.in_progress`",
  content_delta: "`output_item.added` (`message`) and `content_part.added` at the first, `output_text.delta`",
  reasoning_delta:
    "`output_item.added` (`reasoning`) and `reasoning_summary_part.added` at the first, `reasoning_summary_text.delta`",
  message: "what is missing of the text, then `output_text.done`, `content_part.done`, `output_item.done`",
  message_restart: "`output_item.done` (`incomplete`); the item is not in the response at its end",
  tool_call_start:
    "`output_item.added` (`mcp_call`), `mcp_call.in_progress`, `mcp_call_arguments.delta` and `.done`",
  tool_call_result: "`mcp_call.completed` or `.failed`, `output_item.done`",
  handoff: "the `mcp_call` of the handoff begins",
  waiting: "`mcp_approval_request` and `function_call` items, then `response.completed`",
  done: "`response.completed`, `.incomplete` (cut, filtered or cancelled) or `.failed`, with the usage of all models",
};

/** An event of the stream. */
export type ResponseEvent = Said & { readonly sequence_number: number };

export type ResponseOptions = ResponseInfo & {
  /** The leg of the run that it is. */
  readonly place: RunLeg;
  /** The tools that the client runs. */
  readonly functions: ReadonlySet<string>;
  /** The answer must have a form. */
  readonly isFormed: boolean;
  readonly showError: ShowError;
};

/** One response, from the events of its run from the first on. */
export interface ResponseEvents {
  /** Events of earlier legs are heard and not told of. */
  hear(event: Event): readonly ResponseEvent[];
  isOver(): boolean;
  /** It cannot be told to its end: why. */
  fail(error: { readonly code: string; readonly message: string }): ResponseEvent;
  /** As it stands. */
  response(): ResponseObject;
}

/** Turns the events of a run, one by one, into those of a response. */
export function responseEvents(options: ResponseOptions): ResponseEvents {
  const { leg } = options.place;
  let said: ResponseEvent[] = [];
  let count = 0;
  const say = (event: Said) => void said.push({ ...event, sequence_number: count++ });
  const output = responseOutput(say);
  const { note, tell } = teller(options, { output, end });
  let standing: Standing = { status: "in_progress" };
  let current = 1;
  let isBegun = false;
  let createdAt = 0;
  const used: Usage[] = [];

  const response = () =>
    responseObject(options, standing, { createdAt, output: output.items(), usage: used.reduce(sum, none) });

  function begin(): void {
    isBegun = true;
    say({ type: "response.created", response: response() });
    say({ type: "response.in_progress", response: response() });
  }
  function end(ending: Standing): void {
    standing = ending;
    const { status } = ending;
    say({ type: `response.${status === "cancelled" ? "incomplete" : status}`, response: response() });
  }

  return {
    hear(event) {
      if (standing.status !== "in_progress") return [];
      if ("at" in event && !isBegun) createdAt = event.at;
      note(event);
      if (current < leg) {
        if (isRest(event)) current++;
        return [];
      }
      if (!isBegun) begin();
      if ("usage" in event && event.usage && event.type !== "done" && event.type !== "turn_end")
        used.push(event.usage);
      if (event.parentRunId === undefined) tell(event);
      const told = said;
      said = [];
      return told;
    },
    isOver: () => standing.status !== "in_progress",
    fail(error) {
      const { code, message, param } = openaiProblem(error).error;
      return { type: "error", code, message, param, sequence_number: count++ };
    },
    response,
  };
}

type Telling = { readonly output: ResponseOutput; end(ending: Standing): void };

/** What is told of the run itself; a run inside of it is the inside of a call, and only its questions are told. */
function teller(options: ResponseOptions, { output, end }: Telling) {
  const speech = speechOf({ ...options, output });
  const calls = callsOf({ ...options, runId: options.place.runId, output });
  /** Of the last whole message. */
  let last = "";
  let finish: Extract<Fact, { readonly type: "message" }>["finish"] | undefined;

  function wait({ callIds, until }: Extract<Fact, { readonly type: "waiting" }>): void {
    // It goes on by itself where it is kept.
    if (until !== undefined && options.sessionId !== undefined) return;
    speech.add(calls.questions(callIds).join("\n\n"));
    const time =
      until === undefined ? "for an answer from outside" : `until ${new Date(until).toISOString()}`;
    if (calls.rest(callIds) === 0) speech.add(`Waiting ${time}.`);
    end({ status: "completed" });
  }
  function finished(fact: Extract<Fact, { readonly type: "done" }>): void {
    speech.withdraw();
    calls.rest([]);
    const ending = endingOf(fact, finish, options.showError);
    if (ending.status === "completed" || ending.status === "incomplete")
      speech.add(options.isFormed ? fact.text : unsaid(last, fact.text).trimStart());
    end(ending);
  }

  return {
    /** What later legs need to know too. */
    note(event: Event): void {
      if (event.type === "approval_required") calls.ask(event);
      if (event.type === "approval_resolved") calls.resolve(event.callId);
      if (event.type !== "message" || event.parentRunId !== undefined) return;
      calls.expect(event.entry);
      last = getText(event.entry);
      finish = event.finish;
    },
    tell(event: Event): void {
      if (event.type === "content_delta") speech.speak("text", event.delta, event.turn);
      if (event.type === "reasoning_delta") speech.speak("reasoning", event.delta, event.turn);
      if (event.type === "tool_call_delta") speech.pause();
      if (isAnew(event)) speech.withdraw();
      if (event.type === "message") speech.settle(event.entry, event.turn);
      if (event.type === "tool_call_start")
        calls.begin(event.id, { name: event.name, arguments: writtenOf(event.arguments) });
      if (event.type === "handoff") calls.begin(event.callId);
      if (event.type === "tool_call_result") calls.settle(event);
      if (event.type === "waiting") wait(event);
      if (event.type === "done") finished(event);
    },
  };
}

/** What was shown of a message that is not whole is void. */
function isAnew({ type }: Event): boolean {
  return type === "message_restart" || type === "recovered" || type === "turn_start";
}

/** Where a run waits for somebody: one leg of it is over. */
export function isRest(event: Event): boolean {
  return event.type === "waiting" && event.until === undefined && event.parentRunId === undefined;
}

function writtenOf(given: unknown): string {
  return typeof given === "string" ? given : JSON.stringify(given);
}

const none: Usage = { inputTokens: 0, outputTokens: 0 };

function sum(left: Usage, right: Usage): Usage {
  return {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    cachedTokens: (left.cachedTokens ?? 0) + (right.cachedTokens ?? 0),
    reasoningTokens: (left.reasoningTokens ?? 0) + (right.reasoningTokens ?? 0),
  };
}
