import type { Agent, Event } from "capstan";

/** Of every agent. */
const everywhere: readonly string[] = ["handoff", "read_result"];

/**
 * Whether a tool is the server's: one of its agents, of those they hand over to, or of those that stored agents may have. Any
 * other was declared by a client. Agents that are tools, and so have runs inside of runs, are never changed by clients.
 */
export function ownTools(
  agents: readonly Agent[],
  named: readonly string[],
): (event: Event & { readonly name: string }) => boolean {
  const team = new Set(agents);
  for (const { handoffs } of team) for (const other of handoffs?.() ?? []) team.add(other);
  const names = new Set([...everywhere, ...named, ...[...team].flatMap(({ tools }) => [...tools.keys()])]);
  const sources = [...team].flatMap(({ toolSource }) => toolSource ?? []);
  return ({ name, parentRunId }) =>
    parentRunId !== undefined ||
    names.has(name) ||
    sources.some((source) => source().some((tool) => tool.name === name));
}
