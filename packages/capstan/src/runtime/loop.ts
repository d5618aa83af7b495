import type { Clock } from "../base/clock.ts";
import { AgentError } from "../base/errors.ts";
import { listPendingCalls } from "../features/calls/pending-calls.ts";
import type { Agents } from "../kernel/agent.ts";
import type { Effect, Engine } from "../kernel/effect.ts";
import type { FactBody } from "../kernel/event.ts";
import type { State } from "../kernel/state.ts";
import { decide } from "./decide.ts";
import type { DynamicTools } from "./dynamic-tools.ts";
import type { EventStream } from "./event-stream.ts";
import type { Inbox } from "./inbox.ts";
import type { Log } from "./log.ts";
import { waitForBackground } from "./wait-for-background.ts";

/** Dependencies and state of the loop. */
export type LoopContext = {
  readonly agents: Agents;
  readonly state: State;
  readonly engine: Engine;
  readonly log: Log;
  readonly inbox: Inbox;
  readonly stream: EventStream;
  readonly clock: Clock;
  /** Whether a later run of the session has started, so that this one has ended for good. */
  readonly isOutdated?: boolean;
  /** Undefined when every agent has a fixed list of tools. */
  readonly tools?: DynamicTools | undefined;
  /** Reads messages from the store into the inbox. */
  readonly pull?: (() => Promise<void>) | undefined;
  /** Retries a pull that failed. */
  readonly retryPull?: (() => Promise<void>) | undefined;
  /** Aborted when the process shuts down: the run stops after the current step and is released. */
  readonly shutdownSignal?: AbortSignal | undefined;
  /** Completes the fact of a message before it is stored. Undefined where no message can arrive. */
  readonly completeFact?: (fact: FactBody) => Promise<FactBody>;
  /** Called synchronously when the run suspends or ends. Later messages start a new segment. */
  onSuspend(): void;
};

/**
 * THE loop. Streaming or not, in memory or on a database, one agent or several: deliver messages, decide, perform,
 * repeat. Every fact is folded into the state before the next decision, and stored before the next effect. Returns when
 * the run has ended or only a message from outside can continue it.
 */
export async function runLoop(context: LoopContext): Promise<void> {
  const { agents, state, engine, inbox, tools, retryPull } = context;
  // The process may take over in the middle of a turn that another process started.
  if (tools) await refreshTools(context, state.run?.turn ?? 0);
  for (;;) {
    if (retryPull || !inbox.isEmpty()) await deliverMessages(context);
    if (context.shutdownSignal?.aborted && !state.run?.done) throw createShutdownError();
    const decision = decide(agents, state);
    if (decision.type === "effects") {
      const turn = getStartedTurn(decision.effects);
      // The tools of a turn are part of the decision, so decide again once they are known.
      if (tools && turn > tools.turn()) await refreshTools(context, turn);
      // In the same tick as the decision: the state must be the one that the rules have read.
      else await engine.all(decision.effects);
    } else if (decision.reason === "done") return context.onSuspend();
    else if (await suspend(context, decision.until)) return;
  }
}

/** Appends the messages that arrived since the last decision as facts. */
async function deliverMessages(context: LoopContext): Promise<void> {
  const { agents, state, log, inbox, clock, isOutdated, retryPull, completeFact } = context;
  while (!inbox.isEmpty() && state.run) {
    const arrival = { agents, run: state.run, now: clock.now(), isOutdated };
    const { facts, problems, keys } = await inbox.take(arrival);
    const bodies = completeFact ? await Promise.all(facts.map(completeFact)) : facts;
    await log.append(bodies, `heard.${state.seq}`, keys);
    if (problems.length > 0) throw problems[0];
  }
  // Last: a message that this brings in keeps the log from committing the end.
  if (retryPull && !state.run?.done) await retryPull();
}

/** The turn that these effects start; 0 when they start none. */
function getStartedTurn(effects: readonly Effect[]): number {
  const [effect] = effects;
  return effect?.type === "model" ? effect.turn : 0;
}

/** Resolves the dynamic tools of a turn, once per turn. */
async function refreshTools({ state, log, tools }: LoopContext, turn: number): Promise<void> {
  if (!tools || !state.run || turn <= tools.turn()) return;
  await log.appendResult(tools.refresh(state.run.agent, turn), `tools.${turn}`);
}

/**
 * Suspends the run and returns true, unless a message arrived. First lets readers catch up, because one of them may
 * answer; then records `waiting`, after which the loop checks for messages once more. `onSuspend` is called in the same
 * tick as the last check, so that no message can arrive in between.
 */
async function suspend(context: LoopContext, until: number | undefined): Promise<boolean> {
  const { agents, state, engine, log, inbox, stream } = context;
  const { run, seq } = state;
  if (run) {
    await log.append([], ""); // readers get what is in the state
    await Promise.race([stream.drained(), inbox.whenNotEmpty()]);
    await context.pull?.();
    if (!inbox.isEmpty()) return false;
    const changed = engine.whenBackgroundChanges?.();
    if (changed) await waitForBackground(context, changed, until);
    if (changed || state.seq !== seq) return false; // background work may have ended since the decision
  }
  if (!run || run.waiting) {
    context.onSuspend();
    return true;
  }
  const callIds = listPendingCalls(agents, run).map((call) => call.callId);
  const waiting = { type: "waiting" as const, callIds, ...(until !== undefined && { until }) };
  await log.append([waiting], String(run.waits));
  return false;
}

function createShutdownError(): AgentError {
  const message = "The process is shutting down. The run was released and can be resumed by another process.";
  return new AgentError("aborted", message);
}
