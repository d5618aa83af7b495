import type { OrphanOptions, RunInfo, Store } from "../../runtime/store.ts";
import { clampRowLimit } from "../store-rules.ts";
import { type RunRow, runColumns, toRunInfo } from "./catalog.ts";
import type { Connection } from "./connection.ts";
import { isLeaseValid } from "./leases.ts";
import { encodeText } from "./stored-text.ts";
import type { WorkQueue } from "./work-queue.ts";

const scope = "substr(sessions.id, 1, max(0, instr(sessions.id, '~') - 1))";
const hasMessages = "EXISTS (SELECT 1 FROM told WHERE run = runs.number AND message IS NOT NULL)";

/** Selects the numbers of runs with work to do. Reads no others: there may be many that wait. */
function selectCandidates({ includeWaiting = false, runId }: OrphanOptions): string {
  if (runId !== undefined)
    return `SELECT number FROM runs WHERE id = ?5 AND (state = 'active' OR (state = 'waiting' AND ${includeWaiting ? "TRUE" : hasMessages}))`;
  if (includeWaiting) return "SELECT number FROM runs WHERE state <> 'ended'";
  return `SELECT number FROM runs WHERE state <> 'ended' AND state = 'active' UNION
    SELECT run FROM told JOIN runs ON runs.number = run WHERE message IS NOT NULL AND state = 'waiting'`;
}

/** Builds the query for orphans. With a limit, scopes take turns; in a scope, runs that were never claimed come first. */
export function buildOrphanQuery(options: OrphanOptions): string {
  const isClaimed = "(claimed_until > ?1 AND claimed_until - ?1 <= 2 * claim_ms)";
  const turn = `row_number() OVER (PARTITION BY ${scope} ORDER BY ifnull(claimed_until, 0), runs.number)`;
  return `SELECT ${runColumns} FROM runs JOIN sessions ON sessions.number = runs.session
    LEFT JOIN leases ON leases.session = sessions.id LEFT JOIN claims ON claims.session = sessions.id
    WHERE runs.number IN (${selectCandidates(options)}) AND ${isLeaseValid} IS NOT TRUE
      AND (?3 IS NULL OR ${isClaimed} IS NOT TRUE) AND runs.id NOT IN (SELECT value FROM json_each(?4))
      AND NOT EXISTS (SELECT 1 FROM runs AS later WHERE later.session = runs.session AND later.number > runs.number)
    ORDER BY ${options.limit === undefined ? "" : `${turn}, ifnull(claimed_until, 0),`} runs.number LIMIT ?2`;
}

/** Creates the listing of orphaned runs, with the claims of processes that take them over. */
export function createOrphans(
  connection: Connection,
  { read, write }: WorkQueue,
  now: () => number,
): Pick<Store, "listOrphans"> {
  function list(options: OrphanOptions): readonly RunInfo[] {
    const { limit = Number.POSITIVE_INFINITY, claimMs = null, runId, except = [] } = options;
    const skippedIds = JSON.stringify(except.map(encodeText));
    const values = [
      now(),
      clampRowLimit(limit),
      claimMs,
      skippedIds,
      ...(runId === undefined ? [] : [encodeText(runId)]),
    ];
    return connection.all<RunRow>(buildOrphanQuery(options), ...values).map(toRunInfo);
  }

  function claim(options: OrphanOptions, claimMs: number): readonly RunInfo[] {
    const runs = list(options);
    for (const { sessionId } of runs) {
      const sql = "REPLACE INTO claims (session, claimed_until, claim_ms) VALUES (?, ?, ?)";
      connection.run(sql, encodeText(sessionId), now() + claimMs, claimMs);
    }
    return runs;
  }

  return {
    async listOrphans(options = {}) {
      const { claimMs } = options;
      const runs = await read(() => list(options));
      // Without runs nothing is written: idle processes do not hold the file.
      return claimMs === undefined || runs.length === 0 ? runs : write(() => claim(options, claimMs));
    },
  };
}
