import type { Found, RunInfo, Store } from "../store.ts";
import { excerptOf, searchableText, wordsOf } from "./searchable.ts";
import type { Connection } from "./sqlite-connection.ts";
import { isValid } from "./sqlite-leases.ts";
import { type FactRow, factOf } from "./sqlite-log.ts";
import { fromStored, toStored } from "./sqlite-text.ts";
import type { Turns } from "./sqlite-turns.ts";

type SessionRow = {
  readonly id: string;
  readonly title: string;
  readonly facts: number;
  readonly createdAt: number;
  readonly updatedAt: number;
};

const runColumns = `runs.id AS runId, sessions.id AS sessionId, agent, state,
  started_at AS startedAt, runs.updated_at AS updatedAt`;

/** What there is: sessions, runs, and where words were said. */
export function sqliteCatalogue(
  connection: Connection,
  { read, write }: Turns,
  now: () => number,
): Pick<Store, "list" | "rename" | "remove" | "runs" | "orphans" | "search"> {
  return {
    list: () =>
      read(() => {
        const sql = `SELECT id, title, facts, created_at AS createdAt, updated_at AS updatedAt
          FROM sessions ORDER BY updated_at DESC, number`;
        return connection.all<SessionRow>(sql).map(({ id, title, ...rest }) => ({
          id: fromStored(id),
          ...(title && { title: fromStored(title) }),
          ...rest,
        }));
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
    runs: (sessionId) =>
      read(() => {
        const sql = `SELECT ${runColumns} FROM runs JOIN sessions ON sessions.number = session
          WHERE sessions.id = ? ORDER BY runs.number`;
        return connection.all<RunInfo>(sql, toStored(sessionId)).map(runOf);
      }),
    orphans: () =>
      read(() => {
        const sql = `SELECT ${runColumns} FROM runs JOIN sessions ON sessions.number = runs.session
          LEFT JOIN leases ON leases.session = sessions.id
          WHERE state <> 'ended' AND ${isValid} IS NOT TRUE AND (state = 'active' OR EXISTS
            (SELECT 1 FROM told WHERE run = runs.number AND message IS NOT NULL))
          ORDER BY runs.number`;
        return connection.all<RunInfo>(sql, now()).map(runOf);
      }),
    search: (text, most = 50) => read(() => searchFor(connection, [...new Set(wordsOf(text))], most)),
  };
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
function searchFor(connection: Connection, words: readonly string[], most: number): Found[] {
  if (words.length === 0) return [];
  const sql = `SELECT sessions.id, seq, version, fact FROM search
    JOIN facts ON facts.number = search.rowid JOIN sessions ON sessions.number = session
    WHERE search MATCH ? ORDER BY rank LIMIT ?`;
  const quoted = words.map((word) => `"${word}"`).join(" ");
  return connection.all<FoundRow>(sql, quoted, most).map((row) => place(connection.file, row, words));
}

function place(file: string, row: FoundRow, words: readonly string[]): Found {
  const text = searchableText(factOf(file, row));
  return { sessionId: fromStored(row.id), seq: row.seq, excerpt: excerptOf(text, words) };
}
