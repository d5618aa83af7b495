import type { RunFilter, RunSort } from "../runtime/run-catalog.ts";

/** What differs between the SQL of the stores. The table of summaries has the same columns in all of them. */
export type RunDialect = {
  /** Adds a value to the statement and returns its placeholder. */
  addValue(value: string | number): string;
  encodeText(text: string): string;
  /** Returns a condition: the column, which holds a list, contains the text. */
  contains(column: string, text: string): string;
  /** Returns a condition on the session of the run. */
  isIn(sessionId: string): string;
  /** Returns a condition: the run is the newest one of one of the sessions. */
  isNewestOf(sessionIds: readonly string[]): string;
  /** Returns a condition on the state of the run. */
  hasState(state: NonNullable<RunFilter["state"]>): string;
};

/** The columns and expressions by which runs are sorted. */
export const sortExpressions: Readonly<Record<RunSort, string>> = {
  startedAt: "started_at",
  cost: "cost",
  ms: "coalesce(ended_at - started_at, -1)",
  tokens: "tokens",
  turns: "turns",
};

const equalColumns = {
  scope: "scope",
  agent: "agent",
  version: "agent_version",
  status: "status",
  stopReason: "stop_reason",
  error: "error_code",
} as const;

const listColumns = { model: "models", tool: "tools", tag: "tags" } as const;

/** Builds the conditions of a filter, without its words, on the table of summaries. */
export function buildRunConditions(filter: RunFilter, dialect: RunDialect): string[] {
  const conditions: string[] = [];
  for (const [field, column] of Object.entries(equalColumns)) {
    const text = filter[field as keyof typeof equalColumns];
    if (text !== undefined) conditions.push(`${column} = ${dialect.addValue(dialect.encodeText(text))}`);
  }
  for (const [field, column] of Object.entries(listColumns)) {
    const text = filter[field as keyof typeof listColumns];
    if (text !== undefined) conditions.push(dialect.contains(column, text));
  }
  const { sessionId, newestOf, state, feedback, from, to, minCost, minMs } = filter;
  if (sessionId !== undefined) conditions.push(dialect.isIn(sessionId));
  if (newestOf) conditions.push(dialect.isNewestOf(newestOf));
  if (state !== undefined) conditions.push(dialect.hasState(state));
  if (feedback === "none") conditions.push("feedback IS NULL");
  else if (feedback !== undefined) conditions.push(`rating = ${dialect.addValue(feedback)}`);
  if (from !== undefined) conditions.push(`started_at >= ${dialect.addValue(from)}`);
  if (to !== undefined) conditions.push(`started_at < ${dialect.addValue(to)}`);
  if (minCost !== undefined) conditions.push(`cost >= ${dialect.addValue(minCost)}`);
  if (minMs !== undefined) conditions.push(`ended_at - started_at >= ${dialect.addValue(minMs)}`);
  return conditions;
}
