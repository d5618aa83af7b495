import { AgentError } from "../errors.ts";
import type { Fact } from "../event.ts";
import { createId } from "../ids.ts";
import type { Blob, Store } from "../store.ts";
import { suspendFacts } from "./suspend-facts.ts";
import { withNewIds } from "./with-new-ids.ts";

/** A session to write: facts from elsewhere, the ids they get here, and the blobs they name. */
export type SessionCopy = {
  readonly id: string;
  readonly title: string;
  readonly facts: readonly Fact[];
  readonly runIds: ReadonlyMap<string, string>;
  loadBlob(handle: string): Promise<Pick<Blob, "mediaType" | "data"> | undefined>;
};

const leaseMs = 60_000;

/** Writes a session that does not exist yet, all of it or nothing. A run that is not finished comes to rest. */
export async function writeSessionCopy(store: Store, copy: SessionCopy): Promise<void> {
  const { id, title } = copy;
  const lease = await store.lease(id, createId("copy_"), leaseMs);
  if (!lease) throw new AgentError("session_busy", `The session "${id}" is in use: choose another id.`);
  try {
    await assertIdIsFree(store, id);
    const handles = await copyBlobs(store, copy);
    const facts = suspendFacts(copy.facts).map((fact) =>
      withNewIds(fact, { sessionId: id, runIds: copy.runIds, handles }),
    );
    await store.append(facts, { expected: 0, lease });
    await store.rename(id, title);
  } catch (error) {
    // Its blobs may be there already.
    if (!(await store.getSession(id))) await store.remove(id);
    throw error;
  } finally {
    await store.release(lease);
  }
}

/** Refuses an id that is taken. */
export async function assertIdIsFree(store: Store, id: string): Promise<void> {
  if (await store.getSession(id))
    throw new AgentError("invalid_input", `There is already a session "${id}": choose another id.`);
}

async function copyBlobs(store: Store, { id, facts, loadBlob }: SessionCopy): Promise<Map<string, string>> {
  const handles = new Map<string, string>();
  for (const fact of facts) {
    if (fact.type !== "tool_call_result" || fact.handle === undefined || handles.has(fact.handle)) continue;
    const blob = await loadBlob(fact.handle);
    if (blob)
      handles.set(fact.handle, await store.putBlob(id, { mediaType: blob.mediaType, data: blob.data }));
  }
  return handles;
}

/** Ids for the runs of a copy: they follow from that of its session, so the same copy has the same ones. */
export function buildRunIds(id: string, facts: readonly Fact[]): Map<string, string> {
  let count = 0;
  return addNestedRunIds(facts, new Map(), () => {
    count += 1;
    return `${id}.run${count}`;
  });
}

/** Ids for all runs of these facts; those of nested runs follow from that of the run they are in. */
export function addNestedRunIds(
  facts: readonly Fact[],
  runIds: Map<string, string>,
  createRunId: (runId: string) => string,
): Map<string, string> {
  let rootRunId = "";
  for (const { runId, parentRunId, parentCallId } of facts) {
    if (parentRunId === undefined) rootRunId = runIds.get(runId) ?? createRunId(runId);
    if (!runIds.has(runId))
      runIds.set(runId, parentRunId === undefined ? rootRunId : `${rootRunId}~${parentCallId}`);
  }
  return runIds;
}
