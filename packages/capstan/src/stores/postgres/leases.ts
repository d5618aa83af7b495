import { AgentError } from "../../errors.ts";
import type { Store } from "../../store.ts";
import type { Database } from "./database.ts";
import { storedText } from "./stored-text.ts";

const longestId = 500; // it stands in an index, and in what other processes are told
const longestMs = 1e12;

/** Leases by the clock of the database. A token is taken while the row is locked, so a later holder has a larger one. */
export function postgresLeases(
  database: Database,
  schema: string,
): Pick<Store, "lease" | "renew" | "release"> {
  const until = (parameter: string) => `clock_timestamp() + make_interval(secs => ${parameter} / 1000.0)`;
  return {
    async lease(sessionId, owner, ms) {
      assertStorableId(sessionId);
      const text = `INSERT INTO ${schema}.leases AS held (session_id, owner, token, until)
        VALUES ($1, $2, nextval('${schema}.tokens'), ${until("$3::float8")})
        ON CONFLICT (session_id) DO UPDATE
          SET owner = $2, token = nextval('${schema}.tokens'), until = ${until("$3::float8")}
          WHERE held.owner = $2 OR held.until <= clock_timestamp()
        RETURNING token`;
      const values = [storedText(sessionId), storedText(owner), Math.min(ms, longestMs)];
      const [row] = await database.query("take a lease", { text, values });
      return row && { sessionId, owner, token: Number(row.token) };
    },
    async renew({ sessionId, token }, ms) {
      const text = `UPDATE ${schema}.leases SET until = ${until("$3::float8")}
        WHERE session_id = $1 AND token = $2 RETURNING token`;
      const values = [storedText(sessionId), token, Math.min(ms, longestMs)];
      return (await database.query("renew a lease", { text, values })).length > 0;
    },
    async release({ sessionId, token }) {
      const text = `DELETE FROM ${schema}.leases WHERE session_id = $1 AND token = $2`;
      await database.query("release a lease", { text, values: [storedText(sessionId), token] });
    },
  };
}

/** Refuses an id of a session that no index can hold. */
export function assertStorableId(sessionId: string): void {
  if (sessionId.length <= longestId) return;
  const message = `The id of a session has ${sessionId.length} characters: the Postgres store takes ${longestId}.`;
  throw new AgentError("invalid_input", message);
}
