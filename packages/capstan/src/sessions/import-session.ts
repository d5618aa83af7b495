import { AgentError } from "../errors.ts";
import type { Fact } from "../event.ts";
import { createId } from "../ids.ts";
import { resolvePolicy } from "../policy.ts";
import type { Store } from "../store.ts";
import { addNestedRunIds, buildRunIds, writeSessionCopy } from "./copy-session.ts";
import { isNested, toPages } from "./load-facts.ts";
import type { RunOrigin } from "./plan-copy.ts";
import { readSessionFile } from "./read-session-file.ts";
import { decodeBlob } from "./session-file.ts";

/**
 * Writes the session in a file to the store and returns its id: `newId`, which must be free, or the id in the file, or
 * a generated one if that is taken. With `newId`, run ids derive from it instead of coming from the file. Importing
 * never starts anything: an unfinished run stays suspended until it is resumed. None of its open calls run then, and no
 * approval in the file counts: the model has to request the calls again.
 */
export async function importSession(store: Store, text: string, newId?: string): Promise<string> {
  const { id: fileId, title = "", facts, blobs } = await readSessionFile(text);
  for (const fact of facts) assertNoNegativeUsage(fact);
  const id = newId ?? ((await store.getSession(fileId)) ? createId("ses_") : fileId);
  const strictFacts = withStrictPolicy(facts);
  await writeSessionCopy(store, {
    id,
    title,
    readPages: () => toPages(strictFacts),
    needsNewDecision: () => true,
    assignRunIds: (runs) => (newId === undefined ? assignRunIds(store, runs) : buildRunIds(newId, runs)),
    async loadBlob(handle) {
      const blob = Object.hasOwn(blobs, handle) ? blobs[handle] : undefined;
      return blob && { mediaType: blob.mediaType, data: decodeBlob(blob, handle) };
    },
  });
  return id;
}

/** Usage counts against the run's budget and the user's daily budget, so a file must not contain negative amounts. */
function assertNoNegativeUsage(fact: Fact): void {
  const cost = fact.type === "done" ? fact.cost : 0;
  const amounts = "usage" in fact ? Object.values(fact.usage ?? {}) : [];
  if (![cost, ...amounts].some((amount) => typeof amount === "number" && amount < 0)) return;
  const problem = `fact ${fact.seq} is invalid: usage and cost must not be negative`;
  throw new AgentError("invalid_input", `Cannot import the session: ${problem}.`);
}

/** Re-enables approvals and the gate in the policy of a run that can still continue: unfinished, or failed but retryable. */
function withStrictPolicy(facts: readonly Fact[]): readonly Fact[] {
  const start = facts.findLastIndex((fact) => fact.type === "run_start" && !isNested(fact));
  const last = facts.at(-1);
  if (last?.type === "done" && !last.canRetry) return facts;
  return facts.map((fact, index) => {
    if (index < start || fact.type !== "run_start") return fact;
    const policy = resolvePolicy(fact.policy);
    const approvals = policy.approvals === "allow" ? "ask" : policy.approvals;
    const gate = policy.gate === "off" ? "default" : policy.gate;
    return { ...fact, policy: { ...policy, approvals, gate } };
  });
}

async function assignRunIds(store: Store, runs: readonly RunOrigin[]): Promise<Map<string, string>> {
  const runIds = new Map<string, string>();
  for (const { runId, parentRunId } of runs) {
    if (parentRunId !== undefined) continue;
    const isTaken = (await store.findSession(runId)) !== undefined;
    runIds.set(runId, isTaken ? createId("run_") : runId);
  }
  return addNestedRunIds(runs, runIds, (runId) => runId);
}
