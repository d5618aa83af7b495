import { AgentError } from "../errors.ts";
import type { Event, Fact } from "../event.ts";
import type { SessionInfo, Store } from "../store.ts";

/** Loads all facts of a session. Rejects with `not_found` if it does not exist. */
export async function loadFacts(store: Store, sessionId: string): Promise<readonly Fact[]> {
  const facts = await store.read(sessionId);
  if (facts.length === 0) await loadSessionInfo(store, sessionId);
  return facts;
}

/** Loads a session's metadata. Rejects with `not_found` if it does not exist. */
export async function loadSessionInfo(store: Store, sessionId: string): Promise<SessionInfo> {
  const info = await store.getSession(sessionId);
  if (info) return info;
  const message = `Session "${sessionId}" not found. Use \`list()\` to see existing sessions.`;
  throw new AgentError("not_found", message);
}

/** True for events of the run and of its nested runs. */
export function isInRun(event: Event, runId: string): boolean {
  return event.runId === runId || (isNested(event) && event.runId.startsWith(`${runId}~`));
}

/** True for events of a nested run, the run of an agent used as a tool. */
export function isNested({ parentRunId }: Event): boolean {
  return parentRunId !== undefined;
}

/** Returns the end of a run, or undefined if the run has not ended or was retried since. */
export function findEnd(runFacts: readonly Fact[]): Extract<Fact, { type: "done" }> | undefined {
  const last = runFacts.findLast(({ type }) => type === "done" || type === "retried");
  return last?.type === "done" ? last : undefined;
}

/** Groups facts by run, in start order. Facts of nested runs are omitted. */
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
