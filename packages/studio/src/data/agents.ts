import type { AboutAgent } from "capstan/client";

/** Agents that present themselves to people. Where some do, the others are specialists whom those call. */
export function introduced(agents: readonly AboutAgent[]): readonly AboutAgent[] {
  return agents.filter(({ title, suggestions = [] }) => title !== undefined || suggestions.length > 0);
}

/** Whom a person may begin with: those that are introduced, or all where none is. */
export function beginners(agents: readonly AboutAgent[]): readonly AboutAgent[] {
  const some = introduced(agents);
  return some.length > 0 ? some : agents;
}

/** Where a new chat with this agent begins. */
export function newChatPath(agent: string): string {
  return `/?agent=${encodeURIComponent(agent)}`;
}
