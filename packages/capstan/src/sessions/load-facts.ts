import { AgentError } from "../errors.ts";
import type { Event, Fact } from "../event.ts";
import type { SessionInfo, Store } from "../store.ts";

/** All facts of a session that must exist. */
export async function loadFacts(store: Store, sessionId: string): Promise<readonly Fact[]> {
  const facts = await store.read(sessionId);
  if (facts.length === 0) await loadSessionInfo(store, sessionId);
  return facts;
}

/** What a store knows of a session that must exist. */
export async function loadSessionInfo(store: Store, sessionId: string): Promise<SessionInfo> {
  const info = await store.getSession(sessionId);
  if (info) return info;
  const message = `The store has no session "${sessionId}": \`list()\` gives those it has.`;
  throw new AgentError("not_found", message);
}

/** Whether an event is one of the run or of those nested in it. */
export function isInRun(event: Event, runId: string): boolean {
  return event.runId === runId || (isNested(event) && event.runId.startsWith(`${runId}~`));
}

/** Whether it is an event of an agent that is a tool: people talk to the run around it. */
export function isNested({ parentRunId }: Event): boolean {
  return parentRunId !== undefined;
}

/** The facts of each run, in the order they were started; those of nested runs are left out. */
export function groupByRun(facts: readonly Fact[]): Map<string, Fact[]> {
  const runs = new Map<string, Fact[]>();
  for (const fact of facts) {
    if (isNested(fact)) continue;
    const runFacts = runs.get(fact.runId);
    if (runFacts) runFacts.push(fact);
    else runs.set(fact.runId, [fact]);
  }
  return runs;
}
