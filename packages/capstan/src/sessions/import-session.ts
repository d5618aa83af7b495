import { AgentError } from "../errors.ts";
import type { Fact } from "../event.ts";
import { createId } from "../ids.ts";
import { resolvePolicy } from "../policy.ts";
import type { Store } from "../store.ts";
import { runIdsFor, withNested, writeCopy } from "./copy-session.ts";
import { withoutOpenCalls } from "./parked.ts";
import { readSessionFile } from "./read-session-file.ts";
import { blobData } from "./session-file.ts";
import { isNested } from "./stored-facts.ts";

/**
 * Writes the session of a file to the store and gives its id: the given one, which must be free, or that of the file, or a
 * new one when that is taken. With a given id nothing in the file names anything here: its runs get ids that follow from
 * it. Only writes: nothing starts, whatever the file says. A run that was not finished stays so and rests until somebody resumes
 * it; no call of it runs then, and nothing in it counts as approved, before it is asked for anew.
 */
export async function importSession(store: Store, written: string, given?: string): Promise<string> {
  const { id: asked, title = "", facts, blobs } = readSessionFile(written);
  for (const fact of facts) assertUsage(fact);
  const id = given ?? ((await store.getSession(asked)) ? createId("ses_") : asked);
  await writeCopy(store, {
    id,
    title,
    facts: withoutOpenCalls(withoutOpenDoors(facts), () => true),
    runIds: given === undefined ? await freeRunIds(store, facts) : runIdsFor(given, facts),
    async blob(handle) {
      const blob = Object.hasOwn(blobs, handle) ? blobs[handle] : undefined;
      return blob && { mediaType: blob.mediaType, data: blobData(blob, handle) };
    },
  });
  return id;
}

/** What a run has used counts against its budget, and against its user's day: a file may not give any of it back. */
function assertUsage(fact: Fact): void {
  const cost = fact.type === "done" ? fact.cost : 0;
  const used = "usage" in fact ? Object.values(fact.usage ?? {}) : [];
  if (![cost, ...used].some((one) => typeof one === "number" && one < 0)) return;
  const problem = `fact ${fact.seq} cannot be read: it has used less than nothing`;
  throw new AgentError("invalid_input", `The session cannot be imported: ${problem}.`);
}

/** A file may not switch off what asks a person: that is decided where a run goes on. */
function withoutOpenDoors(facts: readonly Fact[]): readonly Fact[] {
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

async function freeRunIds(store: Store, facts: readonly Fact[]): Promise<Map<string, string>> {
  const runIds = new Map<string, string>();
  for (const fact of facts) {
    const { runId } = fact;
    if (runIds.has(runId) || isNested(fact)) continue;
    const isTaken = (await store.findSession(runId)) !== undefined;
    runIds.set(runId, isTaken ? createId("run_") : runId);
  }
  return withNested(facts, runIds, (runId) => runId);
}
