import type { ListOptions, RunInfo, SearchHit, SessionInfo, Store } from "../../store.ts";
import { excerptOf, searchableText, wordsOf } from "../search-text.ts";
import { rowLimit } from "../store-rules.ts";
import type { Connection } from "./connection.ts";
import { type FactRow, factOf } from "./fact-log.ts";
import { isValid } from "./leases.ts";
import { inScope } from "./scope.ts";
import { fromStored, toStored } from "./stored-text.ts";
import type { Turns } from "./work-queue.ts";

type SessionRow = {
  readonly id: string;
  readonly title: string;
  readonly facts: number;
  readonly createdAt: number;
  readonly updatedAt: number;
};

const sessionColumns = "id, title, facts, created_at AS createdAt, updated_at AS updatedAt";
/** A row that was not made and has no facts is only where blobs wait for them. */
const isSession = "(facts > 0 OR created_at > 0)";
const runColumns = `runs.id AS runId, sessions.id AS sessionId, agent, state,
  started_at AS startedAt, runs.updated_at AS updatedAt`;

/** What there is: sessions, runs, and where words were said. */
export function sqliteCatalogue(
  connection: Connection,
  { read, write }: Turns,
  now: () => number,
): Pick<
  Store,
  "create" | "getSession" | "list" | "rename" | "remove" | "listRuns" | "listOrphans" | "search"
> {
  return {
    create: (sessionId, title = "") =>
      write(() => {
        const sql = `INSERT INTO sessions (id, title, created_at, updated_at) VALUES (?1, ?2, ?3, ?3)
          ON CONFLICT (id) DO UPDATE SET title = ?2, created_at = ?3, updated_at = ?3 WHERE NOT ${isSession}`;
        connection.run(sql, toStored(sessionId), toStored(title), now());
      }),
    getSession: (sessionId) =>
      read(() => {
        const sql = `SELECT ${sessionColumns} FROM sessions WHERE id = ? AND ${isSession}`;
        const row = connection.get<SessionRow>(sql, toStored(sessionId));
        return row && sessionOf(row);
      }),
    list: ({ scope, limit: most = Number.POSITIVE_INFINITY } = {}) =>
      read(() => {
        const within = inScope(scope);
        const sql = `SELECT ${sessionColumns} FROM sessions WHERE ${within.sql} AND ${isSession}
          ORDER BY updated_at DESC, number LIMIT ?`;
        return connection.all<SessionRow>(sql, ...within.values, rowLimit(most)).map(sessionOf);
      }),
    rename: (sessionId, title) =>
      write(() => {
        const sql = "UPDATE sessions SET title = ? WHERE id = ?";
        connection.run(sql, toStored(title), toStored(sessionId));
      }),
    async remove(sessionId) {
      await write(() => removeSession(connection, toStored(sessionId)));
      // The pages of before are still in the write-ahead log. It goes as far as readers let it.
      await read(() => connection.all("PRAGMA wal_checkpoint(TRUNCATE)")).catch(() => undefined);
    },
    listRuns: (sessionId) =>
      read(() => {
        const sql = `SELECT ${runColumns} FROM runs JOIN sessions ON sessions.number = session
          WHERE sessions.id = ? ORDER BY runs.number`;
        return connection.all<RunInfo>(sql, toStored(sessionId)).map(runOf);
      }),
    listOrphans: () =>
      read(() => {
        const sql = `SELECT ${runColumns} FROM runs JOIN sessions ON sessions.number = runs.session
          LEFT JOIN leases ON leases.session = sessions.id
          WHERE state <> 'ended' AND ${isValid} IS NOT TRUE AND (state = 'active' OR EXISTS
            (SELECT 1 FROM told WHERE run = runs.number AND message IS NOT NULL))
          ORDER BY runs.number`;
        return connection.all<RunInfo>(sql, now()).map(runOf);
      }),
    search: (text, options) => read(() => searchFor(connection, [...new Set(wordsOf(text))], options)),
  };
}

function sessionOf({ id, title, ...rest }: SessionRow): SessionInfo {
  return { id: fromStored(id), ...(title && { title: fromStored(title) }), ...rest };
}

function runOf(row: RunInfo): RunInfo {
  const { runId, sessionId, agent } = row;
  return { ...row, runId: fromStored(runId), sessionId: fromStored(sessionId), agent: fromStored(agent) };
}

function removeSession(connection: Connection, id: string): void {
  connection.run("DELETE FROM leases WHERE session = ?", id);
  const found = "SELECT facts.number FROM facts JOIN sessions ON sessions.number = session WHERE id = ?";
  connection.run(`DELETE FROM search WHERE rowid IN (${found})`, id);
  connection.run("DELETE FROM sessions WHERE id = ?", id); // and with it all that belongs to it
  connection.exec("PRAGMA incremental_vacuum");
}

type FoundRow = FactRow & { readonly id: string };

/** The index holds the words as `wordsOf` gives them, so every store finds the same. */
function searchFor(connection: Connection, words: readonly string[], options: ListOptions = {}): SearchHit[] {
  if (words.length === 0) return [];
  const within = inScope(options.scope);
  const sql = `SELECT sessions.id, seq, version, fact FROM search
    JOIN facts ON facts.number = search.rowid JOIN sessions ON sessions.number = session
    WHERE search MATCH ? AND ${within.sql} ORDER BY rank LIMIT ?`;
  const quoted = words.map((word) => `"${word}"`).join(" ");
  return connection
    .all<FoundRow>(sql, quoted, ...within.values, rowLimit(options.limit ?? 50))
    .map((row) => place(connection.file, row, words));
}

function place(file: string, row: FoundRow, words: readonly string[]): SearchHit {
  const text = searchableText(factOf(file, row));
  return { sessionId: fromStored(row.id), seq: row.seq, excerpt: excerptOf(text, words) };
}
