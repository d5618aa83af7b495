import { AgentError } from "../../base/errors.ts";
import { splitQuery } from "../../base/match-words.ts";
import type { RunFilter, RunQuery, RunSummary } from "../../runtime/run-catalog.ts";
import type { Store } from "../../runtime/store.ts";
import { buildRunConditions, type RunDialect, sortExpressions } from "../run-conditions.ts";
import { defaultRunLimit, formatRunCursor, parseRunCursor } from "../run-cursor.ts";
import { assertBucketMs, createStatistics, type StatisticsRow } from "../run-statistics.ts";
import { clampRowLimit } from "../store-rules.ts";
import { buildSummary } from "../summarize-run.ts";
import type { Database, Statement } from "./database.ts";
import { namesExpression } from "./ended-runs.ts";
import type { PostgresRow } from "./pool.ts";
import { completeSummaries, decodeSummary } from "./run-summaries.ts";
import { findMatches } from "./search.ts";
import { decodeJson, decodeText, encodeText } from "./stored-text.ts";

/** A word that so many of the newest facts have is frequent: only the runs of those facts are considered. */
const frequentMatches = 100;

/** The places of the runs that have the words of a query; undefined if it has no words. */
type Matches = readonly string[] | undefined;

/** Creates the queries over all runs. */
export function createRunQueries(
  database: Database,
  schema: string,
): Pick<Store, "queryRuns" | "summarizeRuns" | "putFeedback"> {
  async function findRuns({ q, scope }: RunFilter): Promise<Matches> {
    await completeSummaries(database, schema);
    if (q === undefined) return undefined;
    const queryWords = splitQuery(q);
    if (queryWords.length === 0) return [];
    const facts = await findMatches(database, schema, { queryWords, scope, limit: frequentMatches });
    const text = `SELECT DISTINCT (SELECT place FROM ${schema}.run_summaries AS summary
        WHERE summary.session_id = fact.session_id AND first_seq <= seq ORDER BY first_seq DESC LIMIT 1) AS place
      FROM unnest($1::text[], $2::integer[]) AS fact (session_id, seq)`;
    const values = [facts.map(({ session_id }) => session_id), facts.map(({ seq }) => seq)];
    const rows = await database.query("search runs", { text, values });
    return rows.flatMap(({ place }) => (place === null ? [] : [String(place)]));
  }

  return {
    async queryRuns(query = {}) {
      const limit = clampRowLimit(query.limit ?? defaultRunLimit);
      const matches = await findRuns(query);
      const statement = buildRunQuery(schema, { ...query, limit: Math.min(limit + 1, 2 ** 31 - 1) }, matches);
      const rows = await database.query("list runs", statement);
      const page = rows.slice(0, limit);
      const last = rows.length > limit ? page.at(-1) : undefined;
      const position = last && { value: Number(last.sort_value), place: Number(last.place) };
      return {
        runs: page.map(toRunSummary),
        ...(position && { next: formatRunCursor(query, position) }),
      };
    },
    async summarizeRuns({ bucketMs, ...filter }) {
      assertBucketMs(bucketMs);
      const statement = buildCountQuery(schema, filter, { matches: await findRuns(filter), bucketMs });
      const statistics = createStatistics();
      for (const row of await database.query("add up runs", statement))
        statistics.add(toStatisticsRow(row, Number(row.period) * bucketMs));
      return statistics.build();
    },
    async putFeedback(runId, feedback) {
      await completeSummaries(database, schema);
      const text = `UPDATE ${schema}.run_summaries SET rating = $2, feedback = $3 WHERE run_id = $1 RETURNING run_id`;
      const values = [
        encodeText(runId),
        feedback?.rating ?? null,
        feedback ? JSON.stringify(feedback) : null,
      ];
      const rows = await database.query("store feedback", { text, values });
      if (rows.length === 0) throw new AgentError("unknown_run", `Run "${runId}" not found in the store.`);
    },
  };
}

/** Builds the statement of a page. Each table selects its own page, in the order of an index if it has one. */
export function buildRunQuery(schema: string, query: RunQuery, matches: Matches): Statement {
  const { sort = "startedAt", order = "desc", limit = defaultRunLimit } = query;
  const { values, conditions, dialect } = buildConditions(schema, query, matches);
  const sortValue = sortExpressions[sort];
  const after = parseRunCursor(query);
  if (after) {
    const position = `${dialect.addValue(after.value)}::double precision, ${dialect.addValue(after.place)}::bigint`;
    conditions.push(`(${sortValue}, place) ${order === "asc" ? ">" : "<"} (${position})`);
  }
  const columns = `place, ${sortValue} AS sort_value`;
  const lastRow = `ORDER BY sort_value ${order}, place ${order} LIMIT ${dialect.addValue(limit)}`;
  const [ended, open] = selectRuns(schema, { ended: columns, open: columns }, conditions);
  const text = `SELECT summary.*, sort_value, runs.state, runs.updated_at FROM (
      (${ended} ${lastRow}) UNION ALL (${open} ${lastRow}) ${lastRow}) AS page
    JOIN ${schema}.run_summaries AS summary ON summary.place = page.place
    JOIN ${schema}.runs ON runs.id = summary.run_id ORDER BY sort_value ${order}, page.place ${order}`;
  return { text, values };
}

type RunColumns = { readonly ended: string; readonly open: string };

/** Selects the runs that have ended, and the open ones. */
function selectRuns(schema: string, columns: RunColumns, conditions: readonly string[]): [string, string] {
  const condition = conditions.join(" AND ");
  return [
    `SELECT ${columns.ended} FROM ${schema}.ended_runs WHERE ${condition}`,
    `SELECT ${columns.open} FROM ${schema}.run_summaries WHERE ended_at IS NULL AND ${condition}`,
  ];
}

type CountOptions = { readonly matches: Matches; readonly bucketMs: number };

/**
 * Builds the statement that adds up runs by period, agent, models and tools, in one scan of narrow rows. Equal `names`
 * stand for equal agents, models and tools, which are read once. The hash of both keys is one key, because PostgreSQL
 * expects so many groups of two that it would sort the runs.
 */
function buildCountQuery(schema: string, filter: RunFilter, { matches, bucketMs }: CountOptions): Statement {
  const { values, conditions, dialect } = buildConditions(schema, filter, matches);
  const period = `floor(started_at / ${dialect.addValue(bucketMs)}::double precision)`;
  const columns = `place, status, cost, tokens, ended_at - started_at AS ms, ${period} AS period`;
  const addNames = (names: string) =>
    `${columns}, ${names} AS names, hashfloat8extended(${period}, ${names}) AS key`;
  const own = { ended: addNames("names"), open: addNames(namesExpression) };
  const text = `WITH counts AS MATERIALIZED (
      SELECT min(period) AS period, min(names) AS names, min(place) AS place, count(*) AS runs,
        count(*) FILTER (WHERE status = 'failed') AS failed, sum(cost) AS cost, sum(tokens) AS tokens,
        array_agg(ms)::text AS durations
      FROM (${selectRuns(schema, own, conditions).join(" UNION ALL ")}) AS matching
      GROUP BY key),
    examples AS MATERIALIZED (SELECT names, agent, models, tools
      FROM (SELECT names, min(place) AS place FROM counts GROUP BY names) AS first_runs
      CROSS JOIN LATERAL (SELECT agent, models, tools FROM ${schema}.run_summaries
        WHERE run_summaries.place = first_runs.place LIMIT 1) AS example)
    SELECT period, runs, failed, cost, tokens, durations, agent, models, tools
    FROM counts JOIN examples ON counts.names = examples.names`;
  return { text, values };
}

function buildConditions(
  schema: string,
  filter: RunFilter,
  matches: Matches,
): { readonly values: unknown[]; readonly conditions: string[]; readonly dialect: RunDialect } {
  const values: unknown[] = [];
  const addValue = (value: unknown) => `$${values.push(value)}`;
  const dialect: RunDialect = {
    addValue,
    encodeText,
    contains: (column, text) => `${column} @> ARRAY[${addValue(encodeText(text))}]::text[]`,
    isIn: (sessionId) =>
      `place IN (SELECT place FROM ${schema}.run_summaries WHERE session_id = ${addValue(encodeText(sessionId))})`,
    isNewestOf: (sessionIds) => `place IN (SELECT max(place) FROM ${schema}.runs
      WHERE session_id = ANY (${addValue(sessionIds.map(encodeText))}::text[]) GROUP BY session_id)`,
    hasState: (state) =>
      state === "ended"
        ? `(status IS NOT NULL OR place NOT IN (SELECT place FROM ${schema}.runs WHERE state <> 'ended'))`
        : `place IN (SELECT place FROM ${schema}.runs WHERE state <> 'ended' AND state = ${addValue(state)})`,
  };
  const conditions = [
    "TRUE",
    ...(matches ? [`place = ANY (${addValue(matches)}::bigint[])`] : []),
    ...buildRunConditions(filter, dialect),
  ];
  return { values, conditions, dialect };
}

function toRunSummary(row: PostgresRow): RunSummary {
  const info = {
    runId: decodeText(row.run_id),
    sessionId: decodeText(row.session_id),
    state: row.state as RunSummary["state"],
    updatedAt: Number(row.updated_at),
    user: decodeText(row.scope),
  };
  return buildSummary(info, decodeSummary(row), row.feedback === null ? undefined : decodeJson(row.feedback));
}

function toStatisticsRow(row: PostgresRow, at: number): StatisticsRow {
  const decodeList = (stored: unknown) => (stored as readonly string[]).map(decodeText);
  return {
    ...{ at, runs: Number(row.runs), failed: Number(row.failed) },
    ...{ cost: Number(row.cost), tokens: Number(row.tokens) },
    durations: parseDurations(String(row.durations)),
    ...{ agent: decodeText(row.agent), models: decodeList(row.models), tools: decodeList(row.tools) },
  };
}

/** Parses an array of numbers, in which the runs that have not ended are null. The driver's own parser is slow. */
function parseDurations(text: string): readonly number[] {
  const durations: readonly (number | null)[] = JSON.parse(
    `[${text.slice(1, -1).replaceAll("NULL", "null")}]`,
  );
  return durations.filter((ms) => ms !== null);
}
