import { type Agent, AgentError } from "capstan";

/** One tool for all agents, or one tool per agent. */
export type Exposure = "query" | "agents";

/** Throws `invalid_definition` without agents, or if clients could not tell two of them apart. */
export function checkAgentNames(agents: readonly Agent[], expose: Exposure): void {
  if (agents.length === 0) throw new AgentError("invalid_definition", "`serveMcp` needs at least one agent.");
  if (expose === "agents") mapAgentsByTool(agents);
  else if (new Set(agents.map(({ name }) => name)).size < agents.length)
    throw new AgentError("invalid_definition", "Two agents have the same name: rename one of them.");
}

/** Maps tool names to agents. Throws if two agents get the same name. */
export function mapAgentsByTool(agents: readonly Agent[]): ReadonlyMap<string, Agent> {
  const byTool = new Map<string, Agent>();
  for (const agent of agents) {
    const name = `ask_${agent.name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 60)}`;
    const other = byTool.get(name);
    if (other) {
      const message = `The agents "${other.name}" and "${agent.name}" would both become the MCP tool "${name}": rename one of them.`;
      throw new AgentError("invalid_definition", message);
    }
    byTool.set(name, agent);
  }
  return byTool;
}
