import { AgentError } from "../base/errors.ts";
import type { StoredRequest } from "../features/exact-requests/stored-request.ts";
import type { Fact, UnplacedFact } from "../kernel/event.ts";
import { createId } from "../kernel/ids.ts";
import type { Blob } from "../kernel/records.ts";
import { listHandles } from "../runtime/load-facts.ts";
import type { SessionWriter, Store } from "../runtime/store.ts";
import { type CopyPlan, planCopy, type RunOrigin } from "./plan-copy.ts";
import { withNewIds } from "./with-new-ids.ts";

/** A session to write: facts from elsewhere, their new run ids, and the blobs they refer to. */
export type SessionCopy = {
  readonly id: string;
  readonly title: string;
  /** Reads the facts in pages. They are read twice. */
  readPages(): AsyncIterable<readonly Fact[]>;
  /** Returns the new run ids by old run id. */
  assignRunIds(
    runs: readonly RunOrigin[],
  ): ReadonlyMap<string, string> | Promise<ReadonlyMap<string, string>>;
  loadBlob(handle: string): Promise<Pick<Blob, "mediaType" | "data"> | undefined>;
  /** Reads the requests to models in pages. Default: there are none. */
  readRequests?(): AsyncIterable<readonly StoredRequest[]>;
};

/** Longer than any copy takes: a store that writes in one transaction could not renew the lease before its end. */
const leaseMs = 600_000;

/** Writes a new session completely or not at all. An unfinished run is stored as suspended. */
export async function writeSessionCopy(store: Store, copy: SessionCopy): Promise<void> {
  const { id, title } = copy;
  const lease = await store.lease(id, createId("copy_"), leaseMs);
  if (!lease) throw new AgentError("session_busy", `Session "${id}" is in use. Choose another id.`);
  try {
    await assertIdIsFree(store, id);
    const plan = await planCopy(copy.readPages());
    const runIds = await copy.assignRunIds(plan.runs);
    await store.writeSession({ lease, title }, (writer) => writeFacts({ copy, plan, runIds, writer }));
  } finally {
    await store.release(lease);
  }
}

/** Throws `invalid_input` if a session with this id exists. */
export async function assertIdIsFree(store: Store, id: string): Promise<void> {
  if (await store.getSession(id))
    throw new AgentError("invalid_input", `Session "${id}" already exists. Choose another id.`);
}

type WriteContext = {
  readonly copy: SessionCopy;
  readonly plan: CopyPlan;
  readonly runIds: ReadonlyMap<string, string>;
  readonly writer: SessionWriter;
};

async function writeFacts({ copy, plan, runIds, writer }: WriteContext): Promise<void> {
  const handles = new Map<string, string>();
  const toCopy = (fact: Fact): UnplacedFact => withNewIds(fact, { sessionId: copy.id, runIds, handles });
  let last = 0;
  for await (const page of copy.readPages()) {
    last = page.at(-1)?.seq ?? last;
    await copyBlobs(copy, page, { handles, writer });
    await writer.append(page.map((fact) => toCopy(plan.refuseCalls(fact))));
  }
  if (plan.suspension) await writer.append([toCopy(plan.suspension)]);
  if (!copy.readRequests || !writer.putRequests) return;
  for await (const page of copy.readRequests()) {
    const own = page.filter(({ seq }) => seq <= last);
    if (own.length > 0) await writer.putRequests(own.map((request) => moveRequest(request, runIds, handles)));
    if (own.length < page.length) return;
  }
}

/** The text of a request stays as it was sent, though its handles may have other names in the copy. */
function moveRequest(
  request: StoredRequest,
  runIds: ReadonlyMap<string, string>,
  handles: ReadonlyMap<string, string>,
): StoredRequest {
  const pieces = request.pieces.map((piece) =>
    typeof piece === "object" && "blob" in piece ? { blob: handles.get(piece.blob) ?? piece.blob } : piece,
  );
  return { ...request, runId: runIds.get(request.runId) ?? request.runId, pieces };
}

/** A handle occurs in the result that it belongs to, or later, so the blobs of a page are copied before its facts. */
async function copyBlobs(
  { loadBlob }: SessionCopy,
  page: readonly Fact[],
  { handles, writer }: { readonly handles: Map<string, string>; readonly writer: SessionWriter },
): Promise<void> {
  for (const fact of page) {
    for (const handle of listHandles(fact)) {
      if (handles.has(handle)) continue;
      const blob = await loadBlob(handle);
      if (blob) handles.set(handle, await writer.putBlob({ mediaType: blob.mediaType, data: blob.data }));
    }
  }
}

/** Derives the run ids of a copy from its session id, so repeating the copy gives the same ids. */
export function buildRunIds(id: string, runs: readonly RunOrigin[]): Map<string, string> {
  let count = 0;
  return addNestedRunIds(runs, new Map(), () => {
    count += 1;
    return `${id}.run${count}`;
  });
}

/** Adds ids for all these runs. Ids of nested runs derive from the id of their root run. */
export function addNestedRunIds(
  runs: readonly RunOrigin[],
  runIds: Map<string, string>,
  createRunId: (runId: string) => string,
): Map<string, string> {
  let rootRunId = "";
  for (const { runId, parentRunId, parentCallId } of runs) {
    if (parentRunId === undefined) rootRunId = runIds.get(runId) ?? createRunId(runId);
    if (!runIds.has(runId))
      runIds.set(runId, parentRunId === undefined ? rootRunId : `${rootRunId}~${parentCallId}`);
  }
  return runIds;
}
