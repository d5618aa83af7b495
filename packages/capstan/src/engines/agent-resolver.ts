import { AgentError } from "../base/errors.ts";
import { type Agent, indexAgents } from "../kernel/agent.ts";
import type { FindAgent } from "./local-engine.ts";

export type AgentResolver = {
  /** Returns every agent that a run of this agent may need; undefined when the agent does not exist. */
  resolveAgents(name: string): Promise<readonly Agent[] | undefined>;
  /** Returns the agent. Throws when other processes could not find it. */
  assertKnown(agent: Agent): Agent;
};

export function createAgentResolver(agents: Agent | readonly Agent[] | FindAgent): AgentResolver {
  if (typeof agents === "function") {
    return {
      async resolveAgents(name) {
        const agent = await agents(name);
        return agent && [agent];
      },
      assertKnown: (agent) => agent,
    };
  }
  const byName = indexAgents(agents);
  return {
    resolveAgents: async (name) => (byName.has(name) ? [...byName.values()] : undefined),
    assertKnown(agent) {
      if (byName.get(agent.name) === agent) return agent;
      const message = `Agent "${agent.name}" was not passed to the engine, so no other process could resume its runs. Add it to \`agents\`.`;
      throw new AgentError("unknown_agent", message);
    },
  };
}
