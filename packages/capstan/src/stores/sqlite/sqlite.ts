import type { Store } from "../../runtime/store.ts";
import { openConnection } from "./connection.ts";
import { createSqliteStore } from "./sqlite-store.ts";

export { backupStore, restoreStore } from "./backup.ts";

export type SqliteOptions = {
  /** How long a write waits for another process that holds the file. Default: 5,000. */
  readonly busyTimeoutMs?: number;
  /** Poll interval for writes of other processes while a session is watched. Default: 200. */
  readonly pollMs?: number;
};

/**
 * Stores sessions in one file, which several processes can share. Acknowledged writes are on disk: each write, or each
 * group of simultaneous writes, is synced. The format is described in `migrations.ts`: a SQLite database with a
 * write-ahead log, whose header identifies the program and the file version. Facts are JSON with their own version. The
 * data of a removed session is overwritten and its space reclaimed.
 *
 * Throws `store_failed` if the file is not a store, is damaged, is not writable or has a later version.
 */
export function sqlite(file: string, { busyTimeoutMs = 5_000, pollMs = 200 }: SqliteOptions = {}): Store {
  const settings = { busyTimeoutMs, pollMs, now: () => Date.now() };
  return createSqliteStore(openConnection(file, busyTimeoutMs), settings);
}
