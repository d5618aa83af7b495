import { AgentError } from "../errors.ts";
import type { Fact } from "../event.ts";
import { createId } from "../ids.ts";
import type { Blob, Store } from "../store.ts";
import { suspendFacts } from "./suspend-facts.ts";
import { withNewIds } from "./with-new-ids.ts";

/** A session to write: facts from elsewhere, their new run ids, and the blobs they refer to. */
export type SessionCopy = {
  readonly id: string;
  readonly title: string;
  readonly facts: readonly Fact[];
  readonly runIds: ReadonlyMap<string, string>;
  loadBlob(handle: string): Promise<Pick<Blob, "mediaType" | "data"> | undefined>;
};

const leaseMs = 60_000;

/** Writes a new session completely or not at all. An unfinished run is stored as suspended. */
export async function writeSessionCopy(store: Store, copy: SessionCopy): Promise<void> {
  const { id, title } = copy;
  const lease = await store.lease(id, createId("copy_"), leaseMs);
  if (!lease) throw new AgentError("session_busy", `Session "${id}" is in use. Choose another id.`);
  try {
    await assertIdIsFree(store, id);
    const handles = await copyBlobs(store, copy);
    const facts = suspendFacts(copy.facts).map((fact) =>
      withNewIds(fact, { sessionId: id, runIds: copy.runIds, handles }),
    );
    await store.append(facts, { expected: 0, lease });
    await store.rename(id, title);
  } catch (error) {
    // Blobs may have been written before the failure.
    if (!(await store.getSession(id))) await store.remove(id);
    throw error;
  } finally {
    await store.release(lease);
  }
}

/** Throws `invalid_input` if a session with this id exists. */
export async function assertIdIsFree(store: Store, id: string): Promise<void> {
  if (await store.getSession(id))
    throw new AgentError("invalid_input", `Session "${id}" already exists. Choose another id.`);
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

/** Derives the run ids of a copy from its session id, so repeating the copy gives the same ids. */
export function buildRunIds(id: string, facts: readonly Fact[]): Map<string, string> {
  let count = 0;
  return addNestedRunIds(facts, new Map(), () => {
    count += 1;
    return `${id}.run${count}`;
  });
}

/** Adds ids for all runs in these facts. Ids of nested runs derive from the id of their root run. */
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
