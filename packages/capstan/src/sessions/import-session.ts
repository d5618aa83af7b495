import { systemClock } from "../base/clock.ts";
import type { Agent } from "../kernel/agent.ts";
import type { Fact } from "../kernel/event.ts";
import { createId } from "../kernel/ids.ts";
import { findStricter, type PolicyOverrides, type Rights, resolvePolicy } from "../kernel/policy.ts";
import { toPages } from "../runtime/load-facts.ts";
import type { Store } from "../runtime/store.ts";
import { addNestedRunIds, buildRunIds, writeSessionCopy } from "./copy-session.ts";
import { factShape } from "./fact-shapes.ts";
import type { RunOrigin } from "./plan-copy.ts";
import { assertFoldable, readSessionFile } from "./read-session-file.ts";
import { rebuildValue } from "./rebuild-value.ts";
import { decodeBlob } from "./session-file.ts";
import type { ImportingDeployment } from "./shapes.ts";

/** Settings of an import. Nothing in the file grants a right: policies and agents come from here. */
export type ImportOptions = {
  /**
   * Id of the session, which must be free; run ids then derive from it. Default: the ids in the file, or generated ones
   * where those are taken.
   */
  readonly id?: string;
  /** Settings of imported runs that are resumed. They override their agents' settings. Approvals and gate are never off. */
  readonly policy?: PolicyOverrides;
  /**
   * Returns the agent that continues the runs of an agent in the file. Runs of unknown agents get the strictest rights.
   * Default: names stay, and only `policy` applies.
   */
  findAgent?(name: string): KnownAgent | undefined | Promise<KnownAgent | undefined>;
};

type KnownAgent = Pick<Agent, "name" | "policy">;

/**
 * Writes the session in a file to the store and returns its id. The history is kept as untrusted text; policies,
 * instructions, approvals, labels, usage and owners are not. Importing never starts anything: an unfinished run stays
 * suspended until it is resumed. None of its open calls run then: the model has to request them again.
 */
export async function importSession(
  store: Store,
  text: string,
  options: ImportOptions = {},
): Promise<string> {
  const { id: fileId, title = "", facts: fileFacts, blobs } = await readSessionFile(text);
  const facts = await rebuildFacts(fileFacts, await describeDeployment(fileFacts, options));
  await assertFoldable(facts);
  const newId = options.id;
  const id = newId ?? ((await store.getSession(fileId)) ? createId("ses_") : fileId);
  await writeSessionCopy(store, {
    id,
    title,
    readPages: () => toPages(facts),
    assignRunIds: (runs) => (newId === undefined ? assignRunIds(store, runs) : buildRunIds(newId, runs)),
    async loadBlob(handle) {
      const blob = Object.hasOwn(blobs, handle) ? blobs[handle] : undefined;
      return blob && { mediaType: blob.mediaType, data: decodeBlob(blob, handle) };
    },
  });
  return id;
}

/** Rebuilds all facts. Some are dropped, so the others get new positions. */
async function rebuildFacts(
  facts: readonly Fact[],
  deployment: ImportingDeployment,
): Promise<readonly Fact[]> {
  const rebuilt: Fact[] = [];
  for await (const page of toPages(facts))
    for (const fact of page) {
      const kept = rebuildValue(factShape, fact, { fact, deployment }) as Fact | undefined;
      if (kept) rebuilt.push({ ...kept, seq: rebuilt.length + 1 });
    }
  return rebuilt;
}

async function describeDeployment(
  facts: readonly Fact[],
  { policy, findAgent }: ImportOptions,
): Promise<ImportingDeployment> {
  const agents = new Map<string, KnownAgent | undefined>();
  for (const fact of facts)
    for (const name of fact.type === "handoff" ? [fact.agent, fact.to] : [fact.agent])
      if (!agents.has(name)) agents.set(name, findAgent ? await findAgent(name) : { name, policy: {} });
  return {
    now: systemClock.now(),
    getAgentName: (name) => agents.get(name)?.name ?? name,
    getPolicy(name) {
      const agent = agents.get(name);
      const own = resolvePolicy(policy, agent?.policy);
      return { ...own, ...findStricter(own, agent ? minimumRights : strictestRights) };
    },
  };
}

const minimumRights: Rights = { gate: "default", approvals: "ask" };
const strictestRights: Rights = { gate: "strict", approvals: "deny" };

async function assignRunIds(store: Store, runs: readonly RunOrigin[]): Promise<Map<string, string>> {
  const runIds = new Map<string, string>();
  for (const { runId, parentRunId } of runs) {
    if (parentRunId !== undefined) continue;
    const isTaken = (await store.findSession(runId)) !== undefined;
    runIds.set(runId, isTaken ? createId("run_") : runId);
  }
  return addNestedRunIds(runs, runIds, (runId) => runId);
}
