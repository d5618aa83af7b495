import { AgentError } from "../base/errors.ts";
import { createId } from "../kernel/ids.ts";
import { yieldToEventLoop } from "../runtime/load-facts.ts";
import type { SessionInfo, Store } from "../runtime/store.ts";
import { session } from "./session.ts";

/** Selects sessions to remove. A session must meet all conditions; at least one is required. */
export type PruneOptions = {
  /** Sessions whose last fact is older than this time, in milliseconds since the epoch. */
  readonly before?: number;
  /** Sessions whose facts and blobs take more bytes. */
  readonly largerThan?: number;
  /** Sessions of this scope, such as a user. */
  readonly scope?: string;
  /** Also removes sessions with an active or waiting run. Default: false. */
  readonly includeUnfinished?: boolean;
  /** Yields the sessions without removing them. Default: false. */
  readonly dryRun?: boolean;
  /** Removes a session; for applications that keep more data of a session. Default: `session(store, id).remove`. */
  remove?(sessionId: string): Promise<void>;
  /** Ends the iteration when aborted. */
  readonly signal?: AbortSignal;
};

/** A removed session, or one that would be removed. `bytes` is set if sizes are compared. */
export type PrunedSession = SessionInfo & { readonly bytes?: number };

const pageSize = 100;
const leaseMs = 60_000;

/**
 * Removes sessions one at a time, the most recently used first, and yields each. Skips sessions that have an active or
 * waiting run, are in use, or change before they are removed. Rejects with `invalid_input` if no condition is set.
 */
export async function* prune(
  store: Store,
  options: PruneOptions,
): AsyncGenerator<PrunedSession, void, undefined> {
  const { before, largerThan, scope, signal } = options;
  if (before === undefined && largerThan === undefined && scope === undefined)
    throw new AgentError("invalid_input", "Choose sessions to prune by age, size or scope.");
  // This id sorts after every session of that time, so the list starts with the first older session.
  let after = before === undefined ? undefined : { id: "\u{10ffff}", updatedAt: before };
  for (;;) {
    const page = await store.list({
      limit: pageSize,
      ...(scope !== undefined && { scope }),
      ...(after && { after }),
    });
    for (const info of page) {
      if (signal?.aborted) return;
      const bytes = largerThan === undefined ? undefined : await store.measureSession(info.id);
      if (bytes === undefined || bytes > (largerThan ?? 0)) {
        const isRemoved = await removeUnlessUsed(store, info, options);
        if (isRemoved) yield { ...info, ...(bytes !== undefined && { bytes }) };
      }
      await yieldToEventLoop();
    }
    if (page.length < pageSize) return;
    after = page.at(-1);
  }
}

/** Returns whether the session was removed, or would be in a dry run. */
async function removeUnlessUsed(store: Store, info: SessionInfo, options: PruneOptions): Promise<boolean> {
  const { dryRun = false, includeUnfinished = false } = options;
  const { remove = (id: string) => session(store, id).remove() } = options;
  const isUnfinished = async () => (await store.listRuns(info.id)).some(({ state }) => state !== "ended");
  if (dryRun) return includeUnfinished || !(await isUnfinished());
  // With the lease, no run can start between the checks and the removal.
  const lease = await store.lease(info.id, createId("prune_"), leaseMs);
  if (!lease) return false;
  try {
    const current = await store.getSession(info.id);
    if (current?.updatedAt !== info.updatedAt || current.facts !== info.facts) return false;
    if (!includeUnfinished && (await isUnfinished())) return false;
    await remove(info.id);
    return true;
  } finally {
    await store.release(lease);
  }
}
