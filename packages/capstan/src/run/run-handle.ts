import type { Agents } from "../agent.ts";
import type { Event } from "../event.ts";
import type { Json } from "../json.ts";
import { type EventStream, eventStream } from "../loop/event-stream.ts";
import {
  answering,
  type CallDecision,
  cancelling,
  contrary,
  type Inbox,
  inbox,
  isContrary,
  type Message,
  resolving,
  steering,
} from "../loop/inbox.ts";
import { toJson } from "../perform/serialise.ts";
import { findRunByCall } from "../state/nested-state.ts";
import type { RunState } from "../state/state.ts";
import type { Result } from "./result.ts";

/**
 * A run: await it for its `Result`, or iterate it for its events. When it waits for an answer from outside, the
 * promise resolves with status `waiting` and the iteration ends; `approve`, `deny` and `answer` make it go on, and it
 * can be awaited or iterated again. It rejects only for misuse or when its store fails, never for what a model, a
 * tool or a limit does.
 */
export interface Run extends PromiseLike<Result>, AsyncIterable<Event> {
  readonly id: string;
  /** Ends the run soon, whatever its tools do; what has been said is kept. */
  cancel(reason?: string): Run;
  /** Says something to the model before its next turn. */
  steer(text: string): Run;
  /**
   * Allows a call that waits for approval. Works once, for exactly what was asked. A question of a tool is answered with
   * a value; one that is not valid by the schema of the question makes the run reject with `invalid_input`, and the call
   * still waits.
   */
  approve(callId: string, value?: Json): Run;
  /** Refuses a call that waits for approval. A question of a tool is denied: the tool is told, and goes on. */
  deny(callId: string, reason?: string): Run;
  /** Gives the result of a call that the client runs. */
  answer(callId: string, value: unknown): Run;
}

/** One stretch of work: from a start or an answer to the next wait or the end. */
export type Leg = { isResting(): boolean; readonly result: Promise<Result> };

export type RunParts = {
  readonly id: string;
  readonly agents: Agents;
  /** The state of the run once it is known. */
  state(): RunState | undefined;
  begin(stream: EventStream, inbox: Inbox): Leg;
  /** Stops what is in flight. */
  abort(reason: string): void;
};

export function runHandle(parts: RunParts): Run {
  const { id, agents } = parts;
  const told = inbox();
  let stream = eventStream();
  let leg = begin();

  function begin(): Leg {
    const next = parts.begin(stream, told);
    // Whoever awaits or iterates the run gets its rejection; nobody else is to be ended by it.
    next.result.catch(() => undefined);
    return next;
  }
  function tell(message: Message): Run {
    const run = parts.state();
    // Refuses at the caller what makes no sense; what changes nothing needs not be heard.
    if (run && message.factsFor(run).length === 0) return handle;
    told.put(message);
    if (leg.isResting()) {
      stream = eventStream();
      leg = begin();
    }
    return handle;
  }

  /** Two contrary decisions may come before either is heard. By call and number of its question. */
  const decided = new Map<string, CallDecision>();
  function resolve(callId: string, decision: CallDecision): Run {
    const run = parts.state();
    const asking = run && findRunByCall(run, callId)?.currentTurn?.calls.get(callId);
    const key = `${callId}#${asking?.questions.length ?? 0}`;
    const earlier = decided.get(key);
    if (earlier && isContrary(earlier, decision)) throw contrary(callId, earlier);
    const message = resolving(agents, callId, decision);
    const check = async (run: RunState) => {
      try {
        await message.check?.(run);
      } catch (problem) {
        decided.delete(key); // what cannot be used has decided nothing
        throw problem;
      }
    };
    tell({ ...message, check });
    decided.set(key, decision);
    return handle;
  }

  const handle: Run = {
    id,
    // biome-ignore lint/suspicious/noThenProperty: a run is awaitable by design
    then: (onResult, onError) => leg.result.then(onResult, onError),
    [Symbol.asyncIterator]: () => stream.read(),
    cancel(reason = "The run was cancelled.") {
      if (parts.state()?.done || told.isClosed()) return handle; // too late is not wrong
      tell(cancelling(reason));
      parts.abort(reason);
      return handle;
    },
    steer: (text) => tell(steering(text)),
    approve: (callId, value) =>
      resolve(callId, { approved: true, ...(value !== undefined && { value: toJson(value) }) }),
    deny: (callId, reason) => resolve(callId, { approved: false, ...(reason !== undefined && { reason }) }),
    answer: (callId, value) => tell(answering(agents, callId, value)),
  };
  return handle;
}
