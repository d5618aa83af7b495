import type { Json } from "../base/json.ts";
import { toJson } from "../kernel/calls/to-json.ts";
import type { Event } from "../kernel/event.ts";
import type { ToolCall } from "../kernel/tool.ts";
import { assertSettledValue, type Message } from "./messages.ts";
import type { Result } from "./result.ts";

/**
 * A run: await it for its `Result`, or iterate it for its events. When the run waits for an answer from outside, the
 * promise resolves with status `waiting` and the iteration ends; `approve`, `deny` and `answer` continue the run, which
 * can then be awaited or iterated again. `retry` does the same for a run that failed. A run may be awaited inside its own
 * iteration. It rejects only for misuse or when its store fails, never because of a model, a tool or a limit.
 */
export interface Run<Output = Json | undefined, Call extends ToolCall = ToolCall>
  extends PromiseLike<Result<Output, Call>>,
    AsyncIterable<Event<Call>> {
  readonly id: string;
  /** As of the promise of the result. */
  catch<Other = never>(
    onError?: ((error: unknown) => Other | PromiseLike<Other>) | null,
  ): Promise<Result<Output, Call> | Other>;
  /** As of the promise of the result. */
  finally(onSettled?: (() => void) | null): Promise<Result<Output, Call>>;
  /** Ends the run soon, whatever its tools do. The text so far is kept. */
  cancel(reason?: string): Run<Output, Call>;
  /** Cancels the background run that a call has started. This run continues, and learns of it. */
  cancelBackground(callId: string, reason?: string): Run<Output, Call>;
  /** Adds a user message before the model's next turn. */
  steer(text: string): Run<Output, Call>;
  /**
   * Allows a call that waits for approval. Works once, for exactly the call that was shown. A tool's question is answered
   * with a value; if the value does not match the schema of the question, the run rejects with `invalid_input` and the
   * call keeps waiting.
   */
  approve(callId: string, value?: Json): Run<Output, Call>;
  /**
   * Allows a call that waits for approval with other arguments, which are reported to the model. If they do not match
   * the tool's schema, the run rejects with `invalid_input` and the call keeps waiting.
   */
  approveWith(callId: string, input: Json): Run<Output, Call>;
  /** Refuses a call that waits for approval. A tool whose question is denied receives the denial and continues. */
  deny(callId: string, reason?: string): Run<Output, Call>;
  /** Sets the result of a call that the client executes. */
  answer(callId: string, value: unknown): Run<Output, Call>;
  /**
   * Continues a quarantined run, or a run that failed because of its model, from the call that failed. A run that waits for
   * its provider calls the model immediately. Completed calls are not repeated. Throws or rejects with `not_retryable` for
   * any other run, and for a run that is not the newest of its session.
   */
  retry(): Run<Output, Call>;
}

export type RunHandleOptions = {
  readonly id: string;
  send(message: Message): void;
  readEvents(): AsyncIterator<Event>;
  getResult(): Promise<Result>;
};

/** Creates the handle of a run, whether it executes in this process or is only known through its store. */
export function createRunHandle({ id, send, readEvents, getResult }: RunHandleOptions): Run {
  function sendMessage(message: Message): Run {
    send(message);
    return handle;
  }
  const handle: Run = {
    id,
    // biome-ignore lint/suspicious/noThenProperty: a run is awaitable by design
    then: (onResult, onError) => getResult().then(onResult, onError),
    catch: (onError) => getResult().catch(onError),
    finally: (onSettled) => getResult().finally(onSettled),
    [Symbol.asyncIterator]: readEvents,
    cancel: (reason) => sendMessage({ type: "cancel", ...(reason !== undefined && { reason }) }),
    cancelBackground: (call, reason) =>
      sendMessage({ type: "cancel_background", call, ...(reason !== undefined && { reason }) }),
    steer: (text) => sendMessage({ type: "steer", text }),
    approve: (callId, value) =>
      sendMessage({ type: "approve", callId, ...(value !== undefined && { value: toJson(value) }) }),
    approveWith: (callId, input) => sendMessage({ type: "approve", callId, input: toJson(input) }),
    deny: (callId, reason) => sendMessage({ type: "deny", callId, ...(reason !== undefined && { reason }) }),
    answer(callId, value) {
      const message = { type: "result" as const, callId, value };
      assertSettledValue(message);
      return sendMessage(message);
    },
    retry: () => sendMessage({ type: "retry" }),
  };
  return handle;
}

/** Sends a message to a run through its handle. */
export function forwardMessage(run: Run, message: Message): void {
  switch (message.type) {
    case "cancel":
      return void run.cancel(message.reason);
    case "cancel_background":
      return void run.cancelBackground(message.call, message.reason);
    case "steer":
      return void run.steer(message.text);
    case "approve":
      return void (message.input === undefined
        ? run.approve(message.callId, message.value)
        : run.approveWith(message.callId, message.input));
    case "deny":
      return void run.deny(message.callId, message.reason);
    case "result":
      return void run.answer(message.callId, message.value);
    case "retry":
      return void run.retry();
  }
}
