import type { Store } from "../../store.ts";
import { watchers } from "../watchers.ts";
import { sqliteBlobs } from "./blobs.ts";
import { sqliteCatalogue } from "./catalog.ts";
import type { Connection } from "./connection.ts";
import { sqliteLog } from "./fact-log.ts";
import { sqliteLeases } from "./leases.ts";
import { sqliteRecords } from "./records.ts";
import { sqliteInbox } from "./run-messages.ts";
import { sqliteWatch } from "./watch.ts";
import { turns } from "./work-queue.ts";

export type Settings = {
  readonly busyTimeoutMs: number;
  readonly pollMs: number;
  /** Milliseconds since the epoch, which all who use the file must agree on. */
  now(): number;
};

/** The store on an open file. */
export function sqliteStore(connection: Connection, { busyTimeoutMs, pollMs, now }: Settings): Store {
  const turn = turns(connection, busyTimeoutMs);
  const local = watchers();
  const { stop, watch } = sqliteWatch(connection, local, pollMs);
  const { assertHeld, ...leases } = sqliteLeases(connection, turn, now);
  const log = sqliteLog(connection, turn, assertHeld);
  const catalogue = sqliteCatalogue(connection, turn, now);
  let closing: Promise<void> | undefined;

  return {
    ...leases,
    ...log,
    ...sqliteInbox(connection, turn, local.tell),
    ...catalogue,
    ...sqliteBlobs(connection, turn),
    ...sqliteRecords(connection, turn, now),
    async append(facts, at) {
      const placed = await log.append(facts, at);
      local.tell(at.lease.sessionId, { type: "facts" });
      return placed;
    },
    async remove(sessionId) {
      await catalogue.remove(sessionId);
      local.forget(sessionId);
    },
    publish: local.publish,
    watch,
    close() {
      stop();
      closing ??= turn.close().then(() => connection.close());
      return closing;
    },
  };
}
