import { identifyRunStart } from "../../kernel/ids.ts";
import type { FoundRun, ListOptions, RunInfo, ScopeSize, SessionInfo, Store } from "../../runtime/store.ts";
import { clampRowLimit, findNewerVersion } from "../store-rules.ts";
import type { Connection, SqlValue } from "./connection.ts";
import { isSession, scopeColumn } from "./migrations.ts";
import { getStoredScopes } from "./scope.ts";
import { encodeText, fromStoredText } from "./stored-text.ts";
import type { WorkQueue } from "./work-queue.ts";

type SessionRow = {
  readonly id: string;
  readonly title: string;
  readonly facts: number;
  readonly createdAt: number;
  readonly updatedAt: number;
};

const sessionColumns = "id, title, facts, created_at AS createdAt, updated_at AS updatedAt";
/** The columns of a run, of `runs` joined with `sessions`. */
export const runColumns = `runs.id AS runId, sessions.id AS sessionId, agent, state,
  started_at AS startedAt, runs.updated_at AS updatedAt,
  (SELECT version FROM facts WHERE facts.session = runs.session ORDER BY seq DESC LIMIT 1) AS version`;

/** Creates the queries for sessions and runs. */
export function createCatalog(
  connection: Connection,
  { read, write }: WorkQueue,
  now: () => number,
): Pick<
  Store,
  | "create"
  | "getSession"
  | "list"
  | "measureSession"
  | "measureScope"
  | "listLargest"
  | "rename"
  | "findRun"
  | "listRuns"
> {
  return {
    create: (sessionId, title = "") =>
      write(() => {
        const sql = `INSERT INTO sessions (id, title, created_at, updated_at) VALUES (?1, ?2, ?3, ?3)
          ON CONFLICT (id) DO UPDATE SET title = ?2, created_at = ?3, updated_at = ?3 WHERE NOT ${isSession}`;
        connection.run(sql, encodeText(sessionId), encodeText(title), now());
      }),
    getSession: (sessionId) =>
      read(() => {
        const sql = `SELECT ${sessionColumns} FROM sessions WHERE id = ? AND ${isSession}`;
        const row = connection.get<SessionRow>(sql, encodeText(sessionId));
        return row && toSessionInfo(row);
      }),
    list: (options) =>
      read(() => {
        const { sql, values } = buildListQuery(options);
        return connection.all<SessionRow>(sql, ...values).map(toSessionInfo);
      }),
    measureSession: (sessionId) =>
      read(() => {
        const sql = "SELECT bytes FROM sessions WHERE id = ?";
        return connection.get<{ bytes: number }>(sql, encodeText(sessionId))?.bytes ?? 0;
      }),
    measureScope: (scope) =>
      read(() => {
        const sql = `SELECT count(*) AS sessions, ifnull(sum(bytes), 0) AS bytes FROM sessions
          WHERE ${scopeColumn} IN (?, ?) AND ${isSession}`;
        return connection.get<ScopeSize>(sql, ...getStoredScopes(scope)) ?? { sessions: 0, bytes: 0 };
      }),
    listLargest: (limit) =>
      read(() => {
        const sql = `SELECT ${sessionColumns}, bytes FROM sessions WHERE ${isSession} ORDER BY bytes DESC, id LIMIT ?`;
        return connection
          .all<SessionRow & { readonly bytes: number }>(sql, clampRowLimit(limit))
          .map(toSessionInfo);
      }),
    rename: (sessionId, title) =>
      write(() => {
        const sql = "UPDATE sessions SET title = ? WHERE id = ?";
        connection.run(sql, encodeText(title), encodeText(sessionId));
      }),
    findRun: (runId) =>
      read(() => {
        const sql = `SELECT ${runColumns}, coalesce(
            (SELECT seq FROM facts WHERE facts.session = runs.session AND identity = ?2), 1) AS firstSeq
          FROM runs JOIN sessions ON sessions.number = runs.session WHERE runs.id = ?1`;
        const row = connection.get<FoundRun & RunRow>(
          sql,
          encodeText(runId),
          encodeText(identifyRunStart(runId)),
        );
        return row && toRunInfo(row);
      }),
    listRuns: (sessionId, limit = Number.POSITIVE_INFINITY) =>
      read(() => {
        const sql = `SELECT ${runColumns} FROM runs JOIN sessions ON sessions.number = session
          WHERE sessions.id = ? ORDER BY runs.number DESC LIMIT ?`;
        return connection
          .all<RunRow>(sql, encodeText(sessionId), clampRowLimit(limit))
          .map(toRunInfo)
          .reverse();
      }),
  };
}

function toSessionInfo<Row extends SessionRow>({
  id,
  title,
  ...rest
}: Row): SessionInfo & Omit<Row, "id" | "title"> {
  return { id: fromStoredText(id), ...(title && { title: fromStoredText(title) }), ...rest };
}

export type RunRow = RunInfo & { readonly version: number };

export function toRunInfo<Row extends RunRow>({ version, ...row }: Row): Omit<Row, "version"> {
  const { runId, sessionId, agent } = row;
  return {
    ...row,
    runId: fromStoredText(runId),
    sessionId: fromStoredText(sessionId),
    agent: fromStoredText(agent),
    ...findNewerVersion(version),
  };
}

/** Builds the query for a page of sessions. Both forms read the rows of the page from an index, in order. */
export function buildListQuery({ scope, after, limit = Number.POSITIVE_INFINITY }: ListOptions = {}): {
  readonly sql: string;
  readonly values: readonly SqlValue[];
} {
  const isAfter = after ? "updated_at <= ?4 AND (updated_at < ?4 OR id > ?5)" : "TRUE";
  const buildSelect = (condition: string) =>
    `SELECT ${sessionColumns} FROM sessions WHERE ${condition} AND ${isSession} AND ${isAfter}`;
  const selects =
    scope === undefined
      ? [buildSelect("TRUE")]
      : [buildSelect(`${scopeColumn} = ?2`), buildSelect(`${scopeColumn} = ?3`)];
  const sql = `${selects.join(" UNION ALL ")} ORDER BY updatedAt DESC, id LIMIT ?1`;
  const scopes = scope === undefined ? ["", ""] : getStoredScopes(scope);
  const values = [clampRowLimit(limit), ...scopes, after?.updatedAt ?? 0, encodeText(after?.id ?? "")];
  // SQLite accepts no values beyond the last parameter.
  return { sql, values: after ? values : values.slice(0, scope === undefined ? 1 : 3) };
}
