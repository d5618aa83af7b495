import type { Agents } from "./agent.ts";
import { decide } from "./decide.ts";
import type { Engine } from "./effect.ts";
import type { EventStream } from "./event-stream.ts";
import type { Inbox } from "./inbox.ts";
import type { Log } from "./log.ts";
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
    await engine.all(next.effects);
  }
}

/** What people and clients have said since the last decision becomes facts. */
async function hear({ state, log, inbox }: Running): Promise<void> {
  if (inbox.isEmpty() || !state.run) return;
  const { facts, problems } = inbox.take(state.run);
  await log.append(facts, `heard.${state.seq}`);
  if (problems.length > 0) throw problems[0];
}

/**
 * Runs until the end, or until only an answer from outside can help. Before it rests it lets its readers catch up:
 * one of them may have the answer.
 */
export async function runUntilRest(running: Running): Promise<void> {
  const { agents, state, log, inbox, stream, rest } = running;
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
