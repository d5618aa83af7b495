import type { Store } from "../../runtime/store.ts";
import { createWatchers, createWorkWatchers, withWorkNotices } from "../watchers.ts";
import { createBlobs } from "./blobs.ts";
import { createCatalog } from "./catalog.ts";
import type { Connection } from "./connection.ts";
import { createSessionDeletion } from "./delete-session.ts";
import { createDerivedTables } from "./derived-tables.ts";
import { createFactLog } from "./fact-log.ts";
import { createLeases } from "./leases.ts";
import { createOrphans } from "./orphans.ts";
import { createRecords } from "./records.ts";
import { createRequests } from "./requests.ts";
import { createRunCounts } from "./run-counts.ts";
import { createRunMessages } from "./run-messages.ts";
import { createRunQueries } from "./run-queries.ts";
import { createSearch } from "./search.ts";
import { createSnapshots } from "./snapshots.ts";
import { createWatch } from "./watch.ts";
import { createWorkQueue } from "./work-queue.ts";
import { createWriteSession } from "./write-session.ts";

export type SqliteStoreSettings = {
  readonly busyTimeoutMs: number;
  readonly pollMs: number;
  /** Milliseconds since the epoch. All processes that use the file must agree on it. */
  now(): number;
};

/** Creates the store on an open file. */
export function createSqliteStore(
  connection: Connection,
  { busyTimeoutMs, pollMs, now }: SqliteStoreSettings,
): Store {
  const queue = createWorkQueue(connection, busyTimeoutMs);
  const local = createWatchers();
  const { notify: notifyWork, watchWork } = createWorkWatchers();
  const { stop, watch } = createWatch(connection, local, pollMs);
  const { assertHeld, ...leases } = createLeases(connection, queue, now);
  const log = createFactLog(connection, queue, assertHeld);
  const messages = createRunMessages(connection, queue, local.notify);
  const blobs = createBlobs(connection, queue);
  const deletion = createSessionDeletion(connection, queue);
  const derived = createDerivedTables(connection, queue);
  // In the background; if it fails, the next process that opens the file tries again.
  deletion.deleteExpired(now).catch(() => undefined);
  let closing: Promise<void> | undefined;

  const append: Store["append"] = async (facts, at) => {
    const appended = await log.append(facts, at);
    derived.completeSoon();
    local.notify(at.lease.sessionId, { type: "facts" });
    return appended;
  };

  return {
    ...leases,
    ...log,
    ...messages,
    ...createCatalog(connection, queue, now),
    ...createOrphans(connection, queue, now),
    ...createRunCounts(connection, queue, now),
    ...createRunQueries(connection, queue, derived.complete),
    ...createSearch(connection, queue, derived.complete),
    ...blobs,
    ...createRequests(connection, queue),
    ...createSnapshots(connection, queue, assertHeld),
    ...createRecords(connection, queue, now),
    ...withWorkNotices({ append, release: leases.release, sendMessage: messages.sendMessage }, notifyWork),
    watchWork,
    writeSession: createWriteSession(connection, queue, { now, assertHeld, ...blobs, ...deletion }),
    remove: (sessionId) => deletion.remove(sessionId, () => local.delete(sessionId)),
    publish: local.publish,
    watch,
    close() {
      stop();
      derived.stop();
      closing ??= queue.close().then(() => connection.close());
      return closing;
    },
  };
}
