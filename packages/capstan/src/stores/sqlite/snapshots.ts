import type { Lease, Snapshot, Store } from "../../runtime/store.ts";
import type { Connection } from "./connection.ts";
import { encodeText } from "./stored-text.ts";
import type { WorkQueue } from "./work-queue.ts";

/** Creates the storage of snapshots: at most one per session, the newest. */
export function createSnapshots(
  connection: Connection,
  { read, write }: WorkQueue,
  assertHeld: (lease: Lease) => void,
): Pick<Store, "putSnapshot" | "getSnapshot"> {
  return {
    putSnapshot: ({ seq, version, state }, lease) =>
      write(() => {
        assertHeld(lease);
        const sql = `REPLACE INTO snapshots (session, seq, version, state)
          SELECT number, ?2, ?3, ?4 FROM sessions WHERE id = ?1 AND facts >= ?2`;
        connection.run(sql, encodeText(lease.sessionId), seq, version, state);
      }),
    getSnapshot: (sessionId) =>
      read(() => {
        const sql = `SELECT seq, version, state FROM snapshots
          WHERE session = (SELECT number FROM sessions WHERE id = ?)`;
        const row = connection.get<Snapshot>(sql, encodeText(sessionId));
        return row && { ...row };
      }),
  };
}
