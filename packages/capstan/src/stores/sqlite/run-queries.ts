import { AgentError } from "../../base/errors.ts";
import { splitQuery } from "../../base/match-words.ts";
import type { RunFilter, RunQuery } from "../../runtime/run-catalog.ts";
import type { Store } from "../../runtime/store.ts";
import { buildRunConditions, type RunDialect, sortExpressions } from "../run-conditions.ts";
import { defaultRunLimit, formatRunCursor, parseRunCursor } from "../run-cursor.ts";
import { assertBucketMs, createStatistics, type StatisticsRow } from "../run-statistics.ts";
import { clampRowLimit } from "../store-rules.ts";
import type { Connection, SqlValue } from "./connection.ts";
import { hourColumn, hourMs } from "./migrations.ts";
import { type ListedSummary, toRunSummary } from "./run-summaries.ts";
import { findNewestRows } from "./search.ts";
import { encodeText, fromStoredText } from "./stored-text.ts";
import type { WorkQueue } from "./work-queue.ts";

/** A statement with named values. */
export type RunStatement = { readonly sql: string; readonly values: readonly SqlValue[] };
type SortedRow = ListedSummary & { readonly sort_value: number };
/** The number of a period, the agent, models and tools of runs in it, and their totals. */
type CountedRow = {
  readonly period: number;
  readonly agent: string;
  readonly models: string;
  readonly tools: string;
  readonly runs: number;
  readonly failed: number;
  readonly cost: number;
  readonly tokens: number;
  /** Separated by commas; null if none has ended. */
  readonly durations: string | null;
};

/** The newest facts with the words of a query whose runs are considered. */
const maxMatches = 1_000;

/** Creates the queries over all runs. */
export function createRunQueries(
  connection: Connection,
  { read, write }: WorkQueue,
  completeDerived: () => Promise<void>,
): Pick<Store, "queryRuns" | "summarizeRuns" | "putFeedback"> {
  /** Returns the numbers of the runs whose facts have the words; undefined if the query has no words. */
  async function findMatches({ q, scope }: RunFilter): Promise<readonly number[] | undefined> {
    await completeDerived();
    if (q === undefined) return undefined;
    const queryWords = splitQuery(q);
    if (queryWords.length === 0) return [];
    return read(() => findRunsByWords(connection, queryWords, scope));
  }

  return {
    async queryRuns(query = {}) {
      const limit = clampRowLimit(query.limit ?? defaultRunLimit);
      const matches = await findMatches(query);
      const { sql, values } = buildRunQuery({ ...query, limit: limit + 1 }, matches);
      const rows = await read(() => connection.all<SortedRow>(sql, ...values));
      const page = rows.slice(0, limit);
      const last = rows.length > limit ? page.at(-1) : undefined;
      const next = last && formatRunCursor(query, { value: last.sort_value, place: last.run });
      return { runs: page.map(toRunSummary), ...(next !== undefined && { next }) };
    },
    async summarizeRuns({ bucketMs, ...filter }) {
      assertBucketMs(bucketMs);
      const matches = await findMatches(filter);
      const { sql, values, periods } = buildCountQuery(filter, { matches, bucketMs });
      const statistics = createStatistics();
      for (const row of await read(() => connection.all<CountedRow>(sql, ...values)))
        statistics.add(toStatisticsRow(row, Math.floor(row.period / periods) * bucketMs));
      return statistics.build();
    },
    async putFeedback(runId, feedback) {
      await completeDerived();
      const sql = `UPDATE run_summaries SET rating = ?, feedback = ?
        WHERE run = (SELECT number FROM runs WHERE id = ?)`;
      const values = [feedback?.rating ?? null, feedback ? JSON.stringify(feedback) : null];
      const changed = await write(() => connection.run(sql, ...values, encodeText(runId)));
      if (changed === 0) throw new AgentError("unknown_run", `Run "${runId}" not found in the store.`);
    },
  };
}

function toStatisticsRow(
  { agent, models, tools, durations, ...totals }: CountedRow,
  at: number,
): StatisticsRow {
  const names = { agent: fromStoredText(agent), models: JSON.parse(models), tools: JSON.parse(tools) };
  return { ...totals, ...names, at, durations: JSON.parse(`[${durations ?? ""}]`) };
}

function findRunsByWords(
  connection: Connection,
  queryWords: readonly string[],
  scope: string | undefined,
): readonly number[] {
  const rows = findNewestRows(connection, queryWords, { scope, enough: maxMatches / 2, limit: maxMatches });
  const sql = `SELECT DISTINCT (SELECT run FROM run_summaries WHERE session = facts.session AND first_seq <= facts.seq
      ORDER BY first_seq DESC LIMIT 1) AS run
    FROM facts WHERE number IN (SELECT value FROM json_each(?))`;
  const found = connection.all<{ run: number | null }>(sql, JSON.stringify(rows.map(({ rowid }) => rowid)));
  return found.flatMap(({ run }) => run ?? []);
}

/** Builds the statement of a page. `matches` are the runs with the words of the query. */
export function buildRunQuery(query: RunQuery, matches: readonly number[] | undefined): RunStatement {
  const { sort = "startedAt", order = "desc", limit = defaultRunLimit } = query;
  const { values, conditions, dialect } = buildConditions(query, matches);
  const sortValue = sortExpressions[sort];
  const after = parseRunCursor(query);
  if (after) {
    const position = `${dialect.addValue(after.value)}, ${dialect.addValue(after.place)}`;
    conditions.push(`(${sortValue}, run) ${order === "asc" ? ">" : "<"} (${position})`);
  }
  // Sorts numbers only, and reads the other columns of the page.
  const sql = `SELECT summary.*, sort_value, runs.id, runs.state, runs.updated_at, sessions.id AS session_id FROM (
      SELECT run, ${sortValue} AS sort_value FROM run_summaries WHERE ${conditions.join(" AND ")}
      ORDER BY ${sortValue} ${order}, run ${order} LIMIT ${dialect.addValue(limit)}) AS page
    CROSS JOIN run_summaries AS summary ON summary.run = page.run
    CROSS JOIN runs ON runs.number = page.run CROSS JOIN sessions ON sessions.number = summary.session
    ORDER BY page.sort_value ${order}, page.run ${order}`;
  return { sql, values };
}

type CountOptions = { readonly matches: readonly number[] | undefined; readonly bucketMs: number };

/**
 * Builds the statement that adds up runs by period, agent, models and tools. Periods of whole hours are added up from
 * hours (`periods` of them make one), in the order of an index with all columns that are needed, so that the runs that
 * have ended are not sorted.
 */
export function buildCountQuery(
  filter: RunFilter,
  { matches, bucketMs }: CountOptions,
): RunStatement & { readonly periods: number } {
  const { values, conditions, dialect } = buildConditions(filter, matches);
  const isWholeHours = bucketMs % hourMs === 0;
  if (isWholeHours) conditions.push(...buildHourConditions(filter, dialect));
  const period = isWholeHours ? hourColumn : `CAST(started_at / ${dialect.addValue(bucketMs)} AS INTEGER)`;
  const [ended, open] = ["ended_at IS NOT NULL", "ended_at IS NULL"].map(
    (condition) => `SELECT ${period} AS period, models, tools, agent, count(*) AS runs,
      sum(status IS 'failed') AS failed, sum(cost) AS cost, sum(tokens) AS tokens,
      group_concat(ended_at - started_at) AS durations
    FROM run_summaries WHERE ${[condition, ...conditions].join(" AND ")} GROUP BY 1, 2, 3, 4`,
  );
  return { sql: `${ended} UNION ALL ${open}`, values, periods: isWholeHours ? bucketMs / hourMs : 1 };
}

/** Limits the index to the hours of a filter, whose own conditions are on times. */
function buildHourConditions({ from, to }: RunFilter, { addValue }: RunDialect): string[] {
  return [
    ...(from === undefined ? [] : [`${hourColumn} >= ${addValue(Math.floor(from / hourMs))}`]),
    ...(to === undefined ? [] : [`${hourColumn} <= ${addValue(Math.floor(to / hourMs))}`]),
  ];
}

function buildConditions(
  filter: RunFilter,
  matches: readonly number[] | undefined,
): { readonly values: SqlValue[]; readonly conditions: string[]; readonly dialect: RunDialect } {
  const values: SqlValue[] = [];
  const addValue = (value: SqlValue) => `?${values.push(value)}`;
  const dialect: RunDialect = {
    addValue,
    encodeText,
    contains: (column, text) => `instr(${column}, ${addValue(JSON.stringify(text))}) > 0`,
    isIn: (sessionId) =>
      `session = (SELECT number FROM sessions WHERE id = ${addValue(encodeText(sessionId))})`,
    isNewestOf: (sessionIds) => `run IN (SELECT max(number) FROM runs WHERE session IN (
      SELECT number FROM sessions WHERE id IN (
        SELECT value FROM json_each(${addValue(JSON.stringify(sessionIds.map(encodeText)))}))) GROUP BY session)`,
    hasState: (state) =>
      state === "ended"
        ? "(status IS NOT NULL OR run NOT IN (SELECT number FROM runs WHERE state <> 'ended'))"
        : `run IN (SELECT number FROM runs WHERE state <> 'ended' AND state = ${addValue(state)})`,
  };
  const conditions = [
    "session NOT IN (SELECT session FROM hidden_sessions)",
    ...(matches ? [`run IN (SELECT value FROM json_each(${addValue(JSON.stringify(matches))}))`] : []),
    ...buildRunConditions(filter, dialect),
  ];
  return { values, conditions, dialect };
}
