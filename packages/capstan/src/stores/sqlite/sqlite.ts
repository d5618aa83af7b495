import type { Store } from "../../store.ts";
import { openConnection } from "./connection.ts";
import { sqliteStore } from "./sqlite-store.ts";

export type SqliteOptions = {
  /** How long a write waits for another process that holds the file. Default: 5,000. */
  readonly busyTimeoutMs?: number;
  /** How often a watched store looks for what other processes have written. Default: 200. */
  readonly pollMs?: number;
};

/**
 * Keeps sessions in one file, which several processes may use at once. What is acknowledged is on the disk: each
 * write, or each group of writes of the same moment, is synced. The format is in `sqlite-schema.ts`: a SQLite
 * database with a write-ahead log, whose header names the program and the version of the file. Facts are JSON with
 * a version of their own. A removed session is overwritten, and its space is given back.
 *
 * Throws `store_failed` for a file that is not a store, is damaged, cannot be written or is from a later version.
 */
export function sqlite(file: string, { busyTimeoutMs = 5_000, pollMs = 200 }: SqliteOptions = {}): Store {
  const settings = { busyTimeoutMs, pollMs, now: () => Date.now() };
  return sqliteStore(openConnection(file, busyTimeoutMs), settings);
}
