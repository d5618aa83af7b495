import { AgentError } from "../../errors.ts";
import type { Lease, Store } from "../../store.ts";
import type { Connection } from "./connection.ts";
import { toStored } from "./stored-text.ts";
import type { Turns } from "./work-queue.ts";

/**
 * A lease is good until its time has come. It is also over when its end is further away than it can be: the clock
 * of the machine was set back, and nobody should wait years for an owner who is gone.
 */
export const isValid = "(until > ?1 AND until - ?1 <= 2 * ms)";

/** Leases among all who use the file. */
export function sqliteLeases(
  connection: Connection,
  { write }: Turns,
  now: () => number,
): Pick<Store, "lease" | "renew" | "release"> & { assertHeld(lease: Lease): void } {
  /** One count for all sessions, so that a token is never given twice, even when a session is removed. */
  function nextToken(): number {
    const sql = "UPDATE counters SET value = value + 1 WHERE name = 'token' RETURNING value";
    return connection.get<{ value: number }>(sql)?.value ?? 0;
  }

  return {
    lease: (sessionId, owner, ms) =>
      write(() => {
        const [id, holder] = [toStored(sessionId), toStored(owner)];
        const taken = `SELECT 1 FROM leases WHERE ${isValid} AND session = ?2 AND owner <> ?3`;
        if (connection.get(taken, now(), id, holder)) return undefined;
        const token = nextToken();
        connection.run("REPLACE INTO leases VALUES (?, ?, ?, ?, ?)", id, holder, token, now() + ms, ms);
        return { sessionId, owner, token };
      }),
    renew: ({ sessionId, token }, ms) =>
      write(() => {
        const sql = "UPDATE leases SET until = ?, ms = ? WHERE session = ? AND token = ?";
        return connection.run(sql, now() + ms, ms, toStored(sessionId), token) > 0;
      }),
    release: ({ sessionId, token }) =>
      write(() => {
        connection.run("DELETE FROM leases WHERE session = ? AND token = ?", toStored(sessionId), token);
      }),
    assertHeld({ sessionId, token }) {
      const sql = "SELECT 1 FROM leases WHERE session = ? AND token = ?";
      if (connection.get(sql, toStored(sessionId), token)) return;
      throw new AgentError("lease_lost", `Another writer has taken over the session "${sessionId}".`);
    },
  };
}
