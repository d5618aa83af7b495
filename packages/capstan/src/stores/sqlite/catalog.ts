import { identifyRunStart } from "../../ids.ts";
import type { FoundRun, ListOptions, RunInfo, SearchHit, SessionInfo, Store } from "../../store.ts";
import { buildExcerpt, splitWords, toSearchText } from "../search-text.ts";
import { clampRowLimit } from "../store-rules.ts";
import type { Connection } from "./connection.ts";
import { type FactRow, parseFact } from "./fact-log.ts";
import { isLeaseValid } from "./leases.ts";
import { buildScopeCondition } from "./scope.ts";
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
/** A row without facts that was not created explicitly only holds blobs. */
const isSession = "(facts > 0 OR created_at > 0)";
const runColumns = `runs.id AS runId, sessions.id AS sessionId, agent, state,
  started_at AS startedAt, runs.updated_at AS updatedAt`;

/** Creates the queries for sessions, runs and search. */
export function createCatalog(
  connection: Connection,
  { read, write }: WorkQueue,
  now: () => number,
): Pick<
  Store,
  "create" | "getSession" | "list" | "rename" | "remove" | "findRun" | "listRuns" | "listOrphans" | "search"
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
    list: ({ scope, limit = Number.POSITIVE_INFINITY } = {}) =>
      read(() => {
        const scopeCondition = buildScopeCondition(scope);
        const sql = `SELECT ${sessionColumns} FROM sessions WHERE ${scopeCondition.sql} AND ${isSession}
          ORDER BY updated_at DESC, number LIMIT ?`;
        return connection
          .all<SessionRow>(sql, ...scopeCondition.values, clampRowLimit(limit))
          .map(toSessionInfo);
      }),
    rename: (sessionId, title) =>
      write(() => {
        const sql = "UPDATE sessions SET title = ? WHERE id = ?";
        connection.run(sql, encodeText(title), encodeText(sessionId));
      }),
    async remove(sessionId) {
      await write(() => removeSession(connection, encodeText(sessionId)));
      // The deleted pages are still in the write-ahead log, which is truncated as far as readers allow.
      await read(() => connection.all("PRAGMA wal_checkpoint(TRUNCATE)")).catch(() => undefined);
    },
    findRun: (runId) =>
      read(() => {
        const sql = `SELECT ${runColumns}, coalesce(
            (SELECT seq FROM facts WHERE facts.session = runs.session AND identity = ?2), 1) AS firstSeq
          FROM runs JOIN sessions ON sessions.number = runs.session WHERE runs.id = ?1`;
        const row = connection.get<FoundRun>(sql, encodeText(runId), encodeText(identifyRunStart(runId)));
        return row && toRunInfo(row);
      }),
    listRuns: (sessionId, limit = Number.POSITIVE_INFINITY) =>
      read(() => {
        const sql = `SELECT ${runColumns} FROM runs JOIN sessions ON sessions.number = session
          WHERE sessions.id = ? ORDER BY runs.number DESC LIMIT ?`;
        return connection
          .all<RunInfo>(sql, encodeText(sessionId), clampRowLimit(limit))
          .map(toRunInfo)
          .reverse();
      }),
    listOrphans: () =>
      read(() => {
        const sql = `SELECT ${runColumns} FROM runs JOIN sessions ON sessions.number = runs.session
          LEFT JOIN leases ON leases.session = sessions.id
          WHERE state <> 'ended' AND ${isLeaseValid} IS NOT TRUE AND (state = 'active' OR EXISTS
            (SELECT 1 FROM told WHERE run = runs.number AND message IS NOT NULL))
          AND NOT EXISTS (SELECT 1 FROM runs AS later WHERE later.session = runs.session AND later.number > runs.number)
          ORDER BY runs.number`;
        return connection.all<RunInfo>(sql, now()).map(toRunInfo);
      }),
    search: (text, options) => read(() => searchFacts(connection, [...new Set(splitWords(text))], options)),
  };
}

function toSessionInfo({ id, title, ...rest }: SessionRow): SessionInfo {
  return { id: fromStoredText(id), ...(title && { title: fromStoredText(title) }), ...rest };
}

function toRunInfo<Row extends RunInfo>(row: Row): Row {
  const { runId, sessionId, agent } = row;
  return {
    ...row,
    runId: fromStoredText(runId),
    sessionId: fromStoredText(sessionId),
    agent: fromStoredText(agent),
  };
}

function removeSession(connection: Connection, id: string): void {
  connection.run("DELETE FROM leases WHERE session = ?", id);
  const found = "SELECT facts.number FROM facts JOIN sessions ON sessions.number = session WHERE id = ?";
  connection.run(`DELETE FROM search WHERE rowid IN (${found})`, id);
  connection.run("DELETE FROM sessions WHERE id = ?", id); // cascades to everything that belongs to the session
  connection.exec("PRAGMA incremental_vacuum");
}

type FoundRow = FactRow & { readonly id: string };

/** The index is built with `splitWords`, so that every store finds the same facts. */
function searchFacts(
  connection: Connection,
  words: readonly string[],
  options: ListOptions = {},
): SearchHit[] {
  if (words.length === 0) return [];
  const scopeCondition = buildScopeCondition(options.scope);
  const sql = `SELECT sessions.id, seq, version, fact FROM search
    JOIN facts ON facts.number = search.rowid JOIN sessions ON sessions.number = session
    WHERE search MATCH ? AND ${scopeCondition.sql} ORDER BY rank LIMIT ?`;
  const quoted = words.map((word) => `"${word}"`).join(" ");
  return connection
    .all<FoundRow>(sql, quoted, ...scopeCondition.values, clampRowLimit(options.limit ?? 50))
    .map((row) => toSearchHit(connection.file, row, words));
}

function toSearchHit(file: string, row: FoundRow, words: readonly string[]): SearchHit {
  const text = toSearchText(parseFact(file, row));
  return { sessionId: fromStoredText(row.id), seq: row.seq, excerpt: buildExcerpt(text, words) };
}
