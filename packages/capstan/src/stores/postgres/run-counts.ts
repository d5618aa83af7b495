import type { Store } from "../../runtime/store.ts";
import type { Database } from "./database.ts";

/** Counts unfinished runs, which have a separate index. */
export function createRunCounts(database: Database, schema: string): Pick<Store, "countRuns"> {
  // A body is text, because JSON of Postgres cannot have every character; only facts of the type have both members.
  const waitEnd = `(SELECT CASE WHEN body LIKE '%"type":"waiting"%'
      THEN substring(body FROM '"until":([0-9.]+)')::float8 * interval '1 ms' + to_timestamp(0) END
    FROM ${schema}.facts WHERE session_id = runs.session_id ORDER BY seq DESC LIMIT 1)`;
  const text = `WITH untaken AS (
      SELECT greatest(to_timestamp(updated_at / 1000), until, ${waitEnd}) AS since
      FROM ${schema}.runs LEFT JOIN ${schema}.leases USING (session_id)
      WHERE state = 'active' AND (until IS NULL OR until <= clock_timestamp()) AND NOT EXISTS
        (SELECT FROM ${schema}.runs AS later WHERE later.session_id = runs.session_id AND later.place > runs.place))
    SELECT (SELECT count(*) FROM ${schema}.runs WHERE state = 'active') AS active,
      (SELECT count(*) FROM ${schema}.runs WHERE state = 'waiting') AS waiting,
      count(*) AS untaken, extract(epoch FROM min(since)) * 1000 AS untaken_since
    FROM untaken WHERE since <= clock_timestamp()`;
  return {
    async countRuns() {
      const [row] = await database.query("count runs", { text, values: [] });
      const since = row?.untaken_since;
      return {
        active: Number(row?.active),
        waiting: Number(row?.waiting),
        untaken: Number(row?.untaken),
        ...(since !== null && { untakenSince: Number(since) }),
      };
    },
  };
}
