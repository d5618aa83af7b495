import { AgentError } from "../../base/errors.ts";
import type { Lease, Store } from "../../runtime/store.ts";
import type { Connection } from "./connection.ts";
import { encodeText } from "./stored-text.ts";
import type { WorkQueue } from "./work-queue.ts";

/**
 * A lease is valid until it expires. It is also invalid if its expiry is further away than its duration allows: then the
 * system clock was set back, and waiting for a missing owner could take years.
 */
export const isLeaseValid = "(until > ?1 AND until - ?1 <= 2 * ms)";

/** Creates leases shared by all processes that use the file. */
export function createLeases(
  connection: Connection,
  { write }: WorkQueue,
  now: () => number,
): Pick<Store, "lease" | "renew" | "release"> & { assertHeld(lease: Lease): void } {
  /** One counter for all sessions, so that a token is never reused, even after a session is deleted. */
  function takeToken(): number {
    const sql = "UPDATE counters SET value = value + 1 WHERE name = 'token' RETURNING value";
    return connection.get<{ value: number }>(sql)?.value ?? 0;
  }

  return {
    // biome-ignore lint/complexity/useMaxParams: the signature of every store
    lease: (sessionId, owner, ms, { takeOver = false } = {}) =>
      write(() => {
        const [id, holder] = [encodeText(sessionId), encodeText(owner)];
        const sql = `SELECT ${isLeaseValid} AND owner <> ?3 AS isTaken FROM leases WHERE session = ?2`;
        const current = connection.get<{ isTaken: number }>(sql, now(), id, holder);
        if (current?.isTaken && !takeOver) return undefined;
        const token = takeToken();
        connection.run("REPLACE INTO leases VALUES (?, ?, ?, ?, ?)", id, holder, token, now() + ms, ms);
        return { sessionId, owner, token, ...(current && { wasHeld: true }) };
      }),
    renew: ({ sessionId, token }, ms) =>
      write(() => {
        const sql = "UPDATE leases SET until = ?, ms = ? WHERE session = ? AND token = ?";
        return connection.run(sql, now() + ms, ms, encodeText(sessionId), token) > 0;
      }),
    release: ({ sessionId, token }) =>
      write(() => {
        connection.run("DELETE FROM leases WHERE session = ? AND token = ?", encodeText(sessionId), token);
      }),
    assertHeld({ sessionId, token }) {
      const sql = "SELECT 1 FROM leases WHERE session = ? AND token = ?";
      if (connection.get(sql, encodeText(sessionId), token)) return;
      throw new AgentError("lease_lost", `Another writer has taken over session "${sessionId}".`);
    },
  };
}
