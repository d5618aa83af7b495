import type { Agent, Agents } from "./agent.ts";
import type { Clock } from "./clock.ts";
import type { Effect } from "./effect.ts";
import { AgentError } from "./errors.ts";
import type { DeltaBody, FactBody } from "./event.ts";
import { callModel } from "./perform/call-model.ts";
import type { CallHooks } from "./perform/call-tool.ts";
import { callTool } from "./perform/call-tool.ts";
import type { State } from "./state.ts";

/** What performing needs of the world around it. */
export type Io = {
  readonly agents: Agents;
  /** Read, never changed. */
  readonly state: State;
  readonly clock: Clock;
  readonly context: unknown;
  readonly hooks: CallHooks;
  emit(delta: DeltaBody): void;
};

/**
 * Performs one effect and tells what came of it: the only code that touches the world. Whatever a model or a tool
 * does becomes facts; it rejects only when there is no such agent.
 */
export async function perform(effect: Effect, io: Io, signal: AbortSignal): Promise<readonly FactBody[]> {
  switch (effect.type) {
    case "model":
      return callModel(effect, { ...io, agent: agentOf(effect.agent, io) }, signal);
    case "tool":
      return callTool(effect, { ...io, agent: agentOf(effect.agent, io) }, signal);
    case "note":
      return effect.facts;
  }
}

function agentOf(name: string, { agents }: Io): Agent {
  const agent = agents.get(name);
  if (!agent) throw new AgentError("unknown_agent", `No agent named "${name}".`);
  return agent;
}
