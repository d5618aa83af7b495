import { AgentError } from "../errors.ts";
import type { Fact } from "../event.ts";
import { createId } from "../ids.ts";
import type { Blob, Store } from "../store.ts";
import { parked } from "./parked.ts";
import { renamedFact } from "./renamed-fact.ts";

/** A session to write: facts from elsewhere, the ids they get here, and the blobs they name. */
export type Copy = {
  readonly id: string;
  readonly title: string;
  readonly facts: readonly Fact[];
  readonly runIds: ReadonlyMap<string, string>;
  blob(handle: string): Promise<Pick<Blob, "mediaType" | "data"> | undefined>;
};

const leaseMs = 60_000;

/** Writes a session that does not exist yet, all of it or nothing. A run that is not finished comes to rest. */
export async function writeCopy(store: Store, copy: Copy): Promise<void> {
  const { id, title } = copy;
  const lease = await store.lease(id, createId("copy_"), leaseMs);
  if (!lease) throw new AgentError("session_busy", `The session "${id}" is in use: choose another id.`);
  try {
    await assertFree(store, id);
    const handles = await putBlobs(store, copy);
    const facts = parked(copy.facts).map((fact) =>
      renamedFact(fact, { sessionId: id, runIds: copy.runIds, handles }),
    );
    await store.append(facts, { expected: 0, lease });
    await store.rename(id, title);
  } catch (problem) {
    // Its blobs may be there already.
    if (!(await store.getSession(id))) await store.remove(id);
    throw problem;
  } finally {
    await store.release(lease);
  }
}

/** Refuses an id that is taken. */
export async function assertFree(store: Store, id: string): Promise<void> {
  if (await store.getSession(id))
    throw new AgentError("invalid_input", `There is already a session "${id}": choose another id.`);
}

async function putBlobs(store: Store, { id, facts, blob }: Copy): Promise<Map<string, string>> {
  const handles = new Map<string, string>();
  for (const fact of facts) {
    if (fact.type !== "tool_call_result" || fact.handle === undefined || handles.has(fact.handle)) continue;
    const found = await blob(fact.handle);
    if (found)
      handles.set(fact.handle, await store.putBlob(id, { mediaType: found.mediaType, data: found.data }));
  }
  return handles;
}

/** Ids for the runs of a copy: they follow from that of its session, so the same copy has the same ones. */
export function runIdsFor(id: string, facts: readonly Fact[]): Map<string, string> {
  let count = 0;
  return withNested(facts, new Map(), () => {
    count += 1;
    return `${id}.run${count}`;
  });
}

/** Ids for all runs of these facts; those of nested runs follow from that of the run they are in. */
export function withNested(
  facts: readonly Fact[],
  runIds: Map<string, string>,
  nameOf: (runId: string) => string,
): Map<string, string> {
  let outer = "";
  for (const { runId, parentRunId, parentCallId } of facts) {
    if (parentRunId === undefined) outer = runIds.get(runId) ?? nameOf(runId);
    if (!runIds.has(runId)) runIds.set(runId, parentRunId === undefined ? outer : `${outer}~${parentCallId}`);
  }
  return runIds;
}
