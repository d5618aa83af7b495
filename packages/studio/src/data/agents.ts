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

/** Returns the path of a new chat with this agent. */
export function getNewChatPath(agent: string): string {
  return `/?agent=${encodeURIComponent(agent)}`;
}
