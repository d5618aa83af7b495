import type { Agents } from "./agent.ts";
import { decide } from "./decide.ts";
import type { Effect, Engine } from "./effect.ts";
import type { EventStream } from "./event-stream.ts";
import type { Inbox } from "./inbox.ts";
import type { Log } from "./log.ts";
import type { LiveTools } from "./perform/live-tools.ts";
import { pendingCalls } from "./result.ts";
import type { Decision } from "./rules/rule.ts";
import type { State } from "./state.ts";

/** What a run works with. */
export type Running = {
  readonly agents: Agents;
  readonly state: State;
  readonly engine: Engine;
  readonly log: Log;
  readonly inbox: Inbox;
  readonly stream: EventStream;
  /** Left out when no agent has tools that come and go. */
  readonly tools?: LiveTools | undefined;
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
  await log.append(tools.renew(state.run.agent, turn), `tools.${turn}`);
  return true;
}

/** What people and clients have said since the last decision becomes facts. */
async function hear({ state, log, inbox }: Running): Promise<void> {
  if (inbox.isEmpty() || !state.run) return;
  const { facts, problems } = await inbox.take(state.run);
  await log.append(facts, `heard.${state.seq}`);
  if (problems.length > 0) throw problems[0];
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
    if (!inbox.isEmpty()) continue;
    if (state.run.waiting) return rest();
    const callIds = pendingCalls(agents, state.run).map((call) => call.callId);
    await log.append([{ type: "waiting", callIds }], String(state.run.waits));
  }
}
