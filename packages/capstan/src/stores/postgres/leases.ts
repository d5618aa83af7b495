import { AgentError } from "../../base/errors.ts";
import type { Store } from "../../runtime/store.ts";
import type { Database } from "./database.ts";
import { encodeText } from "./stored-text.ts";

const maxIdLength = 500; // limited by the index and the NOTIFY payload
const maxLeaseMs = 1e12;

/** Creates leases timed by the database's clock. A token is taken while the row is locked, so tokens increase with each holder. */
export function createLeases(database: Database, schema: string): Pick<Store, "lease" | "renew" | "release"> {
  const buildExpiry = (parameter: string) =>
    `clock_timestamp() + make_interval(secs => ${parameter} / 1000.0)`;
  return {
    // biome-ignore lint/complexity/useMaxParams: the signature of every store
    async lease(sessionId, owner, ms, { takeOver = false } = {}) {
      assertStorableId(sessionId);
      // `xmax` is 0 in a row that was inserted: no lease had to be replaced.
      const text = `INSERT INTO ${schema}.leases AS held (session_id, owner, token, until)
        VALUES ($1, $2, nextval('${schema}.tokens'), ${buildExpiry("$3::float8")})
        ON CONFLICT (session_id) DO UPDATE
          SET owner = $2, token = nextval('${schema}.tokens'), until = ${buildExpiry("$3::float8")}
          WHERE $4 OR held.owner = $2 OR held.until <= clock_timestamp()
        RETURNING token, xmax <> 0 AS was_held`;
      const values = [encodeText(sessionId), encodeText(owner), Math.min(ms, maxLeaseMs), takeOver];
      const [row] = await database.query("acquire a lease", { text, values });
      const wasHeld = row?.was_held === true && { wasHeld: true as const };
      return row && { sessionId, owner, token: Number(row.token), ...wasHeld };
    },
    async renew({ sessionId, token }, ms) {
      const text = `UPDATE ${schema}.leases SET until = ${buildExpiry("$3::float8")}
        WHERE session_id = $1 AND token = $2 RETURNING token`;
      const values = [encodeText(sessionId), token, Math.min(ms, maxLeaseMs)];
      return (await database.query("renew a lease", { text, values })).length > 0;
    },
    async release({ sessionId, token }) {
      const text = `DELETE FROM ${schema}.leases WHERE session_id = $1 AND token = $2`;
      await database.query("release a lease", { text, values: [encodeText(sessionId), token] });
    },
  };
}

/** Throws `invalid_input` for a session id that is too long for an index. */
export function assertStorableId(sessionId: string): void {
  if (sessionId.length <= maxIdLength) return;
  const message = `The session id has ${sessionId.length} characters; the Postgres store allows ${maxIdLength}.`;
  throw new AgentError("invalid_input", message);
}
