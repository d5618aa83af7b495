import { AgentError } from "../../base/errors.ts";
import type { Store } from "../../runtime/store.ts";
import type { Database } from "./database.ts";
import { encodeText } from "./stored-text.ts";

/** Creates the storage of snapshots: at most one per session, the newest. */
export function createSnapshots(
  database: Database,
  schema: string,
): Pick<Store, "putSnapshot" | "getSnapshot"> {
  return {
    async putSnapshot({ seq, version, state }, { sessionId, token }) {
      const text = `WITH held AS (SELECT FROM ${schema}.leases WHERE session_id = $1 AND token = $2 FOR UPDATE),
        put AS (INSERT INTO ${schema}.snapshots (session_id, seq, version, state)
          SELECT id, $3, $4, $5 FROM ${schema}.sessions WHERE id = $1 AND facts >= $3 AND EXISTS (SELECT FROM held)
          ON CONFLICT (session_id) DO UPDATE SET seq = $3, version = $4, state = $5)
        SELECT FROM held`;
      const values = [encodeText(sessionId), token, seq, version, state];
      const rows = await database.query("store a snapshot", { text, values });
      if (rows.length === 0)
        throw new AgentError("lease_lost", `Another writer has taken over session "${sessionId}".`);
    },
    async getSnapshot(sessionId) {
      const text = `SELECT seq, version, state FROM ${schema}.snapshots WHERE session_id = $1`;
      const [row] = await database.query("read a snapshot", { text, values: [encodeText(sessionId)] });
      return row && { seq: Number(row.seq), version: Number(row.version), state: String(row.state) };
    },
  };
}
