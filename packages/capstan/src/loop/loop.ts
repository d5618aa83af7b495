import type { Agents } from "../agent.ts";
import type { Effect, Engine } from "../effect.ts";
import { AgentError } from "../errors.ts";
import type { FactBody } from "../event.ts";
import type { DynamicTools } from "../perform/live-tools.ts";
import { decide } from "../rules/decide.ts";
import { listPendingCalls } from "../rules/pending-calls.ts";
import type { Decision } from "../rules/rule.ts";
import type { State } from "../state/state.ts";
import type { EventStream } from "./event-stream.ts";
import type { Inbox } from "./inbox.ts";
import type { Log } from "./log.ts";

/** What a run works with. */
export type Running = {
  readonly agents: Agents;
  readonly state: State;
  readonly engine: Engine;
  readonly log: Log;
  readonly inbox: Inbox;
  readonly stream: EventStream;
  /** Left out when no agent has tools that come and go. */
  readonly tools?: DynamicTools | undefined;
  /** Looks for what was told through the store. */
  readonly pull?: (() => Promise<void>) | undefined;
  /** Looks again if it could not when there was something. */
  readonly catchUp?: (() => Promise<void>) | undefined;
  /** Aborted when the process wants to leave. */
  readonly leaving?: AbortSignal | undefined;
  /** What was told, as it goes into the log: a large answer is cut. Left out where nobody can answer. */
  readonly fitted?: (fact: FactBody) => Promise<FactBody>;
  /** Called in the instant it comes to rest: what is told from then on begins a new leg. */
  rest(): void;
};

/**
 * THE loop. Streaming or not, in memory or on a database, one agent or several: hear, decide, perform, and again.
 * Every fact is stored and folded into the state before the next decision.
 */
export async function loop(running: Running): Promise<Extract<Decision, { type: "stop" }>> {
  const { agents, state, engine } = running;
  for (;;) {
    await hear(running);
    if (running.leaving?.aborted && !state.run?.done) throw putDown();
    const next = decide(agents, state);
    if (next.type === "stop") return next;
    // What is decided for a turn depends on its tools.
    if (running.tools && (await renewed(running, beginningTurn(next.effects)))) continue;
    await engine.all(next.effects);
  }
}

/** The turn that these effects begin; 0 for none. */
function beginningTurn(effects: readonly Effect[]): number {
  const [effect] = effects;
  return effect?.type === "model" ? effect.turn : 0;
}

/** Asks for the tools of a turn, once. Tells whether it did. */
async function renewed({ state, log, tools }: Running, turn: number): Promise<boolean> {
  if (!tools || !state.run || turn <= tools.turn()) return false;
  await log.append(tools.refresh(state.run.agent, turn), `tools.${turn}`);
  return true;
}

function putDown(): AgentError {
  return new AgentError(
    "aborted",
    "The run was put down because its process is leaving: another one goes on with it.",
  );
}

/** What people and clients have said since the last decision becomes facts. */
async function hear({ state, log, inbox, catchUp, fitted }: Running): Promise<void> {
  if (!inbox.isEmpty() && state.run) {
    const { facts, problems, keys } = await inbox.take(state.run);
    await log.append(fitted ? await Promise.all(facts.map(fitted)) : facts, `heard.${state.seq}`, keys);
    if (problems.length > 0) throw problems[0];
  }
  // Last: what it brings keeps the log from writing the end.
  if (catchUp && !state.run?.done) await catchUp();
}

/**
 * Runs until the end, or until only an answer from outside can help. Before it rests it lets its readers catch up:
 * one of them may have the answer.
 */
export async function runUntilRest(running: Running): Promise<void> {
  const { agents, state, log, inbox, stream, rest } = running;
  // In the middle of a turn that another process began.
  if (running.tools) await renewed(running, state.run?.turn ?? 0);
  for (;;) {
    const stop = await loop(running);
    if (stop.reason === "done" || !state.run) return rest();
    await Promise.race([stream.drained(), inbox.rung()]);
    await running.pull?.();
    if (!inbox.isEmpty()) continue;
    if (state.run.waiting) return rest();
    const { until } = stop;
    const callIds = listPendingCalls(agents, state.run).map((call) => call.callId);
    const waiting = { type: "waiting" as const, callIds, ...(until !== undefined && { until }) };
    await log.append([waiting], String(state.run.waits));
  }
}
