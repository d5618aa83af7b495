import { describeThrown } from "../base/errors.ts";
import type { Agent } from "../kernel/agent.ts";
import type { Event } from "../kernel/event.ts";
import type { Policy, PolicyOverrides } from "../kernel/policy.ts";
import { memory } from "../stores/memory.ts";
import { findSteeringText, type RunInput, readInput } from "./input.ts";
import type { Message } from "./messages.ts";
import type { Result } from "./result.ts";
import type { BusySession, WaitingRun } from "./run.ts";
import { createRunHandle, forwardMessage, type Run } from "./run-handle.ts";
import { resolveRunPolicy } from "./run-policy.ts";
import type { Store } from "./store.ts";

/** A message to a session with an unfinished run in this process. */
export type BusyMessage = {
  readonly agent: Agent;
  readonly input: RunInput;
  readonly policy?: PolicyOverrides;
  readonly runId: string;
  readonly signal?: AbortSignal;
  /** Starts its run, in the store of its session or in another one. */
  start(store?: Store): Run;
};

export const interruptReason = "A new message interrupted the run.";

/** Does what the policy of a new message says while its session has an unfinished run. */
export function runWhenBusy(busy: BusySession, message: BusyMessage): Run {
  const { start } = message;
  const plan = tryPlan(message);
  if (!plan) return start(memory());
  const { onBusy, text } = plan;
  if (onBusy === "reject") return start();
  if (text !== undefined && trySteer(busy, text) && busy.run) return busy.run;
  const interrupts = onBusy === "interrupt";
  if (interrupts) getHandle(busy).cancel(interruptReason);
  return runInTurn(busy.waiting, message, interrupts);
}

type Plan = { readonly onBusy: Policy["onBusy"]; readonly text?: string | undefined };

/** Undefined if the input or the policy is invalid: then the run rejects as it would in an idle session. */
function tryPlan({ agent, input, policy }: BusyMessage): Plan | undefined {
  try {
    const { entries } = readInput(input);
    const { onBusy } = resolveRunPolicy(agent, policy);
    return { onBusy, text: onBusy === "steer" ? findSteeringText(entries) : undefined };
  } catch {
    return undefined;
  }
}

/** Returns the handle of the unfinished run, and resumes it if it is suspended. */
function getHandle(busy: BusySession): Run {
  busy.run ??= busy.resume();
  return busy.run;
}

/** False if the run is about to end, so that it takes no more messages. */
function trySteer(busy: BusySession, text: string): boolean {
  try {
    getHandle(busy).steer(text);
    return true;
  } catch (thrown) {
    if (describeThrown(thrown, "store_failed").code === "run_ended") return false;
    throw thrown;
  }
}

/** Creates the handle of a run that starts when its turn comes. */
function runInTurn(waiting: WaitingRun[], message: BusyMessage, interrupts: boolean): Run {
  const { runId, signal } = message;
  const unsentMessages: Message[] = [];
  const started = Promise.withResolvers<void>();
  let run: Run | undefined;

  function open(store?: Store): Run {
    signal?.removeEventListener("abort", cancelBySignal);
    run = message.start(store);
    for (const unsent of unsentMessages) forwardMessage(run, unsent);
    started.resolve();
    return run;
  }
  const own: WaitingRun = {
    interrupts,
    start(isInterrupted) {
      const handle = open();
      if (isInterrupted) handle.cancel(interruptReason);
    },
  };
  /** A run that is cancelled before its turn ends in a separate store: its session has no record of it. */
  function cancel(reason: string | undefined): void {
    waiting.splice(waiting.indexOf(own), 1);
    open(memory()).cancel(reason);
  }
  function cancelBySignal(): void {
    cancel(describeThrown(signal?.reason, "cancelled").message);
  }

  const place = interrupts ? waiting.findIndex((other) => !other.interrupts) : -1;
  waiting.splice(place === -1 ? waiting.length : place, 0, own);
  if (signal?.aborted) cancelBySignal();
  else signal?.addEventListener("abort", cancelBySignal, { once: true });
  return createRunHandle({
    id: runId,
    send(sent) {
      if (run) forwardMessage(run, sent);
      else if (sent.type === "cancel") cancel(sent.reason);
      else unsentMessages.push(sent);
    },
    async *readEvents(): AsyncGenerator<Event> {
      await started.promise;
      if (run) yield* run;
    },
    async getResult(): Promise<Result> {
      await started.promise;
      return run as Run;
    },
  });
}
