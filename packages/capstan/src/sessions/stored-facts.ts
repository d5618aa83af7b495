import { AgentError } from "../errors.ts";
import type { Fact } from "../event.ts";
import type { Store } from "../store.ts";

/** All facts of a session that must exist. */
export async function storedFacts(store: Store, sessionId: string): Promise<readonly Fact[]> {
  const facts = await store.read(sessionId);
  if (facts.length === 0)
    throw new AgentError(
      "not_found",
      `The store has no session "${sessionId}": \`list()\` gives those it has.`,
    );
  return facts;
}

/** The facts of each run, in the order they were started. */
export function factsByRun(facts: readonly Fact[]): Map<string, Fact[]> {
  const runs = new Map<string, Fact[]>();
  for (const fact of facts) {
    const known = runs.get(fact.runId);
    if (known) known.push(fact);
    else runs.set(fact.runId, [fact]);
  }
  return runs;
}
