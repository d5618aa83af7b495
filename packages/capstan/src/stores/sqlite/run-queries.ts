import { AgentError } from "../../errors.ts";
import { splitQuery } from "../../match-words.ts";
import type { RunFilter, RunQuery, RunStatistics, RunTotals } from "../../run-summary.ts";
import type { Store } from "../../store.ts";
import { buildRunConditions, type RunDialect, sortExpressions } from "../run-conditions.ts";
import { defaultRunLimit, formatRunCursor, parseRunCursor } from "../run-cursor.ts";
import { assertBucketMs, createStatistics, toDurationBin } from "../run-statistics.ts";
import { clampRowLimit } from "../store-rules.ts";
import type { Connection, SqlValue } from "./connection.ts";
import { completeSummaries, type ListedSummary, toRunSummary } from "./run-summaries.ts";
import { completeIndex, findNewestRows } from "./search.ts";
import { encodeText, fromStoredText } from "./stored-text.ts";
import type { WorkQueue } from "./work-queue.ts";

/** A statement with named values. */
export type RunStatement = { readonly sql: string; readonly values: readonly SqlValue[] };
type SortedRow = ListedSummary & { readonly sort_value: number };
/** Start, end, whether it failed, cost and tokens of a run; its agent, models and tools in one text, which is faster. */
type CountedRow = [number, number | null, number, number, number, string];

/** The newest facts with the words of a query whose runs are considered. */
const maxMatches = 1_000;

/** Creates the queries over all runs. */
export function createRunQueries(
  connection: Connection,
  queue: WorkQueue,
): Pick<Store, "queryRuns" | "summarizeRuns" | "putFeedback"> {
  const { read, write } = queue;

  /** Returns the numbers of the runs whose facts have the words; undefined if the query has no words. */
  async function findMatches({ q, scope }: RunFilter): Promise<readonly number[] | undefined> {
    await completeSummaries(connection, queue);
    if (q === undefined) return undefined;
    const queryWords = splitQuery(q);
    if (queryWords.length === 0) return [];
    await completeIndex(connection, queue);
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
      const { sql, values } = buildCountQuery(filter, matches);
      return addUp(await read(() => connection.allArrays<CountedRow>(sql, ...values)), bucketMs);
    },
    async putFeedback(runId, feedback) {
      await completeSummaries(connection, queue);
      const sql = `UPDATE run_summaries SET rating = ?, feedback = ?
        WHERE run = (SELECT number FROM runs WHERE id = ?)`;
      const values = [feedback?.rating ?? null, feedback ? JSON.stringify(feedback) : null];
      const changed = await write(() => connection.run(sql, ...values, encodeText(runId)));
      if (changed === 0) throw new AgentError("unknown_run", `Run "${runId}" not found in the store.`);
    },
  };
}

/** Separates the parts of a text. JSON has no such character. */
const separator = "\u001f";

/** Few runs differ in their agent, models and tools, so those are added up first. */
function addUp(rows: readonly CountedRow[], bucketMs: number): RunStatistics {
  const statistics = createStatistics();
  const byParts = new Map<string, { -readonly [Field in keyof RunTotals]: number }>();
  for (const [startedAt, endedAt, failed, cost, tokens, parts] of rows) {
    const at = Math.floor(startedAt / bucketMs) * bucketMs;
    const bin = endedAt === null ? undefined : toDurationBin(endedAt - startedAt);
    statistics.add({ runs: 1, failed, cost, tokens, at, bin });
    let totals = byParts.get(parts);
    if (!totals) {
      totals = { runs: 0, failed: 0, cost: 0, tokens: 0 };
      byParts.set(parts, totals);
    }
    totals.runs += 1;
    totals.failed += failed;
    totals.cost += cost;
    totals.tokens += tokens;
  }
  for (const [parts, totals] of byParts) {
    const [tools = "[]", models = "[]", ...agent] = parts.split(separator).reverse();
    const names = { models: JSON.parse(models), tools: JSON.parse(tools) };
    statistics.add({ ...totals, ...names, agent: fromStoredText(agent.reverse().join(separator)) });
  }
  return statistics.build();
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

/** Builds the statement of the runs that are added up. */
function buildCountQuery(filter: RunFilter, matches: readonly number[] | undefined): RunStatement {
  const { values, conditions } = buildConditions(filter, matches);
  const sql = `SELECT started_at, ended_at, status IS 'failed', cost, tokens,
      agent || char(31) || models || char(31) || tools
    FROM run_summaries WHERE ${conditions.join(" AND ")}`;
  return { sql, values };
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
