import type { Store } from "../../runtime/store.ts";
import type { Connection } from "./connection.ts";
import { isLeaseValid } from "./leases.ts";
import type { WorkQueue } from "./work-queue.ts";

type CountRow = { readonly state: string; readonly count: number };
type UntakenRow = { readonly untaken: number; readonly untakenSince: number | null };

/** Until when a run waits for its provider, if its last fact says so. */
const waitEnd = `(SELECT CASE json_extract(fact, '$.type') WHEN 'waiting' THEN json_extract(fact, '$.until') END
  FROM facts WHERE facts.session = runs.session ORDER BY seq DESC LIMIT 1)`;

/** Counts unfinished runs, which have their own index. */
export function createRunCounts(
  connection: Connection,
  { read }: Pick<WorkQueue, "read">,
  now: () => number,
): Pick<Store, "countRuns"> {
  return {
    countRuns: () =>
      read(() => {
        const byState = "SELECT state, count(*) AS count FROM runs WHERE state <> 'ended' GROUP BY state";
        const counts = new Map(connection.all<CountRow>(byState).map(({ state, count }) => [state, count]));
        const sql = `SELECT count(*) AS untaken, min(since) AS untakenSince FROM (
            SELECT max(runs.updated_at, min(coalesce(leases.until, 0), ?1), coalesce(${waitEnd}, 0)) AS since
            FROM runs JOIN sessions ON sessions.number = runs.session
            LEFT JOIN leases ON leases.session = sessions.id
            WHERE state = 'active' AND ${isLeaseValid} IS NOT TRUE AND NOT EXISTS
              (SELECT 1 FROM runs AS later WHERE later.session = runs.session AND later.number > runs.number))
          WHERE since <= ?1`;
        const { untaken = 0, untakenSince } = connection.get<UntakenRow>(sql, now()) ?? {};
        const since = typeof untakenSince === "number" && { untakenSince };
        return {
          active: counts.get("active") ?? 0,
          waiting: counts.get("waiting") ?? 0,
          untaken,
          ...since,
        };
      }),
  };
}
