import type { AboutAgent } from "capstan/client";

/** Returns the agents with a profile. If there are any, the others are specialists that they call. */
export function filterProfiled(agents: readonly AboutAgent[]): readonly AboutAgent[] {
  return agents.filter(({ title, suggestions = [] }) => title !== undefined || suggestions.length > 0);
}

/** Returns the agents a user can start a chat with: those with a profile, or all if none has one. */
export function getStartableAgents(agents: readonly AboutAgent[]): readonly AboutAgent[] {
  const profiled = filterProfiled(agents);
  return profiled.length > 0 ? profiled : agents;
}

/** The agent and the model of a run. */
export type ParsedAgentName = { readonly agent: string; readonly model?: string };

/** Splits the name of a run's agent, such as `graph@ollama/qwen3`, into the agent and the model that was chosen. */
export function parseAgentName(name: string, agents: readonly AboutAgent[]): ParsedAgentName {
  const known = agents.map((agent) => agent.name);
  if (known.includes(name)) return { agent: name };
  const agent = known.find((each) => name.startsWith(`${each}@`));
  // A name may end with the tools that a client added.
  return agent === undefined
    ? { agent: name }
    : { agent, model: name.slice(agent.length + 1).replace(/\+tools_[\w-]{43}$/, "") };
}

const appAgentPrefix = "mcp-app:";

/** Whether a run makes the call of an MCP App. */
export const isAppAgent = (name: string): boolean => name.startsWith(appAgentPrefix);

/** Formats the name of an agent for display. */
export const formatAgentName = (name: string): string =>
  isAppAgent(name) ? `App of ${name.slice(appAgentPrefix.length)}` : name;

/** Returns the path of a new chat with this agent. */
export function getNewChatPath(agent: string): string {
  return `/?agent=${encodeURIComponent(agent)}`;
}
