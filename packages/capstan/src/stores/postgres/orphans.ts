import type { OrphanOptions, Store } from "../../runtime/store.ts";
import { clampRowLimit } from "../store-rules.ts";
import { buildRunColumns, toRunInfo } from "./catalog.ts";
import type { Database, Statement } from "./database.ts";
import { encodeText } from "./stored-text.ts";

/**
 * Creates the listing of orphaned runs. With `claimMs`, it reads and claims ready runs; otherwise it writes nothing.
 * `onMore` is called if there may be more unclaimed runs.
 */
export function createOrphans(
  database: Database,
  schema: string,
  onMore: () => void,
): Pick<Store, "listOrphans"> {
  return {
    async listOrphans(options = {}) {
      const rows = await database.query("list orphaned runs", buildOrphanQuery(schema, options));
      if (rows.length > 0 && rows.length === options.limit && rows.every((row) => row.is_new)) onMore();
      return rows.map(toRunInfo);
    },
  };
}

export function buildOrphanQuery(schema: string, options: OrphanOptions): Statement {
  const { includeWaiting = false, runId, limit = Number.POSITIVE_INFINITY, claimMs, except = [] } = options;
  const skippedIds = except.map(encodeText);
  if (claimMs !== undefined && runId === undefined && !includeWaiting) {
    const text = `SELECT ${buildRunColumns(schema)}, is_new
      FROM ${schema}.claim_runs($1, $2, $3) WITH ORDINALITY AS claimed (run_id, is_new, turn)
      JOIN ${schema}.runs ON runs.id = claimed.run_id ORDER BY turn`;
    return { text, values: [clampRowLimit(limit), claimMs, skippedIds] };
  }
  const scope = "left(session_id, greatest(strpos(session_id, '~') - 1, 0))";
  const turn = `row_number() OVER (PARTITION BY ${scope} ORDER BY place),`;
  const text = `SELECT ${buildRunColumns(schema)} FROM ${schema}.runs
    WHERE ${selectCandidates(schema, options)} AND id <> ALL ($2)
      AND NOT EXISTS (SELECT FROM ${schema}.leases WHERE session_id = runs.session_id AND until > clock_timestamp())
      AND NOT EXISTS (SELECT FROM ${schema}.runs AS later
        WHERE later.session_id = runs.session_id AND later.place > runs.place)
    ORDER BY ${options.limit === undefined ? "" : turn} place LIMIT $1`;
  return {
    text,
    values: [clampRowLimit(limit), skippedIds, ...(runId === undefined ? [] : [encodeText(runId)])],
  };
}

/** Restricts the query to runs with work. It does not read the waiting runs, of which there may be many. */
function selectCandidates(schema: string, { includeWaiting = false, runId }: OrphanOptions): string {
  const hasMessages = `EXISTS (SELECT FROM ${schema}.told WHERE run_id = runs.id AND NOT heard)`;
  if (runId !== undefined)
    return `id = $3 AND (state = 'active' OR (state = 'waiting' AND ${includeWaiting ? "true" : hasMessages}))`;
  if (includeWaiting) return "state <> 'ended'";
  return `state <> 'ended' AND id IN (SELECT id FROM ${schema}.runs WHERE state = 'active'
    UNION ALL SELECT run_id FROM ${schema}.told WHERE NOT heard)`;
}
