// Two tables are derived from facts: the search index, and the summaries of runs. A counter each has the number of the last
// fact that is in it. Facts that an earlier version of this program writes do not raise them; they are added later.
import type { Connection } from "./connection.ts";

export type FactCounter = "indexed" | "summarized";

/** Raises the counters that have reached the fact before the first of these, and returns their names. */
export function raiseCounters(connection: Connection, first: number, last: number): ReadonlySet<FactCounter> {
  const sql =
    "UPDATE counters SET value = ?2 WHERE name IN ('indexed', 'summarized') AND value = ?1 - 1 RETURNING name";
  return new Set(connection.all<{ name: FactCounter }>(sql, first, last).map(({ name }) => name));
}

/** Whether facts are missing in what the counter counts. */
export function isCounterBehind(connection: Connection, counter: FactCounter): boolean {
  const sql = "SELECT 1 FROM counters WHERE name = ? AND value < (SELECT ifnull(max(number), 0) FROM facts)";
  return connection.get(sql, counter) !== undefined;
}
