import type { Store } from "../../store.ts";
import { createWatchers } from "../watchers.ts";
import { createBlobs } from "./blobs.ts";
import { createCatalog } from "./catalog.ts";
import type { Connection } from "./connection.ts";
import { createFactLog } from "./fact-log.ts";
import { createLeases } from "./leases.ts";
import { createRecords } from "./records.ts";
import { createRunMessages } from "./run-messages.ts";
import { createSnapshots } from "./snapshots.ts";
import { createWatch } from "./watch.ts";
import { createWorkQueue } from "./work-queue.ts";

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
  const { stop, watch } = createWatch(connection, local, pollMs);
  const { assertHeld, ...leases } = createLeases(connection, queue, now);
  const log = createFactLog(connection, queue, assertHeld);
  const catalog = createCatalog(connection, queue, now);
  let closing: Promise<void> | undefined;

  return {
    ...leases,
    ...log,
    ...createRunMessages(connection, queue, local.notify),
    ...catalog,
    ...createBlobs(connection, queue),
    ...createSnapshots(connection, queue, assertHeld),
    ...createRecords(connection, queue, now),
    async append(facts, at) {
      const appended = await log.append(facts, at);
      local.notify(at.lease.sessionId, { type: "facts" });
      return appended;
    },
    async remove(sessionId) {
      await catalog.remove(sessionId);
      local.delete(sessionId);
    },
    publish: local.publish,
    watch,
    close() {
      stop();
      closing ??= queue.close().then(() => connection.close());
      return closing;
    },
  };
}
