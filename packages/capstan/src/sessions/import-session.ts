import { AgentError } from "../errors.ts";
import type { Fact } from "../event.ts";
import { createId } from "../ids.ts";
import { resolvePolicy } from "../policy.ts";
import type { Store } from "../store.ts";
import { addNestedRunIds, buildRunIds, writeSessionCopy } from "./copy-session.ts";
import { isNested } from "./load-facts.ts";
import { readSessionFile } from "./read-session-file.ts";
import { decodeBlob } from "./session-file.ts";
import { refuseOpenCalls } from "./suspend-facts.ts";

/**
 * Writes the session of a file to the store and gives its id: the given one, which must be free, or that of the file, or a
 * new one when that is taken. With a given id nothing in the file names anything here: its runs get ids that follow from
 * it. Only writes: nothing starts, whatever the file says. A run that was not finished stays so and rests until somebody resumes
 * it; no call of it runs then, and nothing in it counts as approved, before it is asked for anew.
 */
export async function importSession(store: Store, text: string, newId?: string): Promise<string> {
  const { id: fileId, title = "", facts, blobs } = readSessionFile(text);
  for (const fact of facts) assertUsageIsPositive(fact);
  const id = newId ?? ((await store.getSession(fileId)) ? createId("ses_") : fileId);
  await writeSessionCopy(store, {
    id,
    title,
    facts: refuseOpenCalls(withStrictPolicy(facts), () => true),
    runIds: newId === undefined ? await assignRunIds(store, facts) : buildRunIds(newId, facts),
    async loadBlob(handle) {
      const blob = Object.hasOwn(blobs, handle) ? blobs[handle] : undefined;
      return blob && { mediaType: blob.mediaType, data: decodeBlob(blob, handle) };
    },
  });
  return id;
}

/** What a run has used counts against its budget, and against its user's day: a file may not give any of it back. */
function assertUsageIsPositive(fact: Fact): void {
  const cost = fact.type === "done" ? fact.cost : 0;
  const amounts = "usage" in fact ? Object.values(fact.usage ?? {}) : [];
  if (![cost, ...amounts].some((amount) => typeof amount === "number" && amount < 0)) return;
  const problem = `fact ${fact.seq} cannot be read: it has used less than nothing`;
  throw new AgentError("invalid_input", `The session cannot be imported: ${problem}.`);
}

/** A file may not switch off what asks a person: that is decided where a run goes on. */
function withStrictPolicy(facts: readonly Fact[]): readonly Fact[] {
  const start = facts.findLastIndex((fact) => fact.type === "run_start" && !isNested(fact));
  if (facts.at(-1)?.type === "done") return facts;
  return facts.map((fact, index) => {
    if (index < start || fact.type !== "run_start") return fact;
    const policy = resolvePolicy(fact.policy);
    const approvals = policy.approvals === "allow" ? "ask" : policy.approvals;
    const gate = policy.gate === "off" ? "default" : policy.gate;
    return { ...fact, policy: { ...policy, approvals, gate } };
  });
}

async function assignRunIds(store: Store, facts: readonly Fact[]): Promise<Map<string, string>> {
  const runIds = new Map<string, string>();
  for (const fact of facts) {
    const { runId } = fact;
    if (runIds.has(runId) || isNested(fact)) continue;
    const isTaken = (await store.findSession(runId)) !== undefined;
    runIds.set(runId, isTaken ? createId("run_") : runId);
  }
  return addNestedRunIds(facts, runIds, (runId) => runId);
}
