import type { RunInfo, SessionInfo, Store } from "../store.ts";
import type { Database } from "./postgres-database.ts";
import type { PostgresRow } from "./postgres-pool.ts";
import { askedWords, originalFact, originalText, storedText, wordQuery } from "./postgres-text.ts";
import { excerptOf, searchableText } from "./searchable.ts";

type Catalogue = Pick<
  Store,
  "read" | "sessionOf" | "list" | "remove" | "rename" | "runs" | "orphans" | "search"
>;

const mostFound = 10_000;

/** What can be asked of sessions and runs. */
export function postgresCatalogue(database: Database, schema: string): Catalogue {
  return {
    async read(sessionId, after = 0) {
      const text = `SELECT seq, body FROM ${schema}.facts WHERE session_id = $1 AND seq > $2 ORDER BY seq`;
      const values = [storedText(sessionId), Math.min(after, 2 ** 31 - 1)];
      const rows = await database.query("read a session", { text, values });
      return rows.map(({ seq, body }) => originalFact(body, seq));
    },
    async sessionOf(runId) {
      const text = `SELECT session_id FROM ${schema}.runs WHERE id = $1`;
      const [row] = await database.query("find a run", { text, values: [storedText(runId)] });
      return row && originalText(row.session_id);
    },
    async list() {
      const text = `SELECT id, title, facts, created_at, updated_at FROM ${schema}.sessions ORDER BY updated_at DESC, id`;
      return (await database.query("list the sessions", { text, values: [] })).map(sessionInfo);
    },
    async remove(sessionId) {
      const text = `SELECT ${schema}.remove($1)`;
      await database.query("remove a session", { text, values: [storedText(sessionId)] });
    },
    async rename(sessionId, title) {
      const text = `UPDATE ${schema}.sessions SET title = $2 WHERE id = $1`;
      const values = [storedText(sessionId), storedText(title)];
      await database.query("rename a session", { text, values });
    },
    async runs(sessionId) {
      const text = `SELECT * FROM ${schema}.runs WHERE session_id = $1 ORDER BY place`;
      const rows = await database.query("list the runs of a session", {
        text,
        values: [storedText(sessionId)],
      });
      return rows.map(runInfo);
    },
    async orphans() {
      const text = `SELECT * FROM ${schema}.runs WHERE state <> 'ended'
        AND (state = 'active' OR EXISTS (SELECT FROM ${schema}.told WHERE run_id = runs.id AND NOT heard))
        AND NOT EXISTS (SELECT FROM ${schema}.leases WHERE session_id = runs.session_id AND until > clock_timestamp())
        ORDER BY place`;
      return (await database.query("find runs without an owner", { text, values: [] })).map(runInfo);
    },
    async search(words, most = 50) {
      const asked = askedWords(words);
      if (asked.length === 0) return [];
      const text = `SELECT session_id, seq, body FROM ${schema}.facts, CAST($1 AS tsquery) AS query
        WHERE words @@ query ORDER BY ts_rank(words, query, 1) DESC, session_id, seq LIMIT $2`;
      const rows = await database.query("search", {
        text,
        values: [wordQuery(asked), Math.min(Math.max(0, Math.floor(most) || 0), mostFound)],
      });
      return rows.map((row) => {
        const fact = originalFact(row.body, row.seq);
        const excerpt = excerptOf(searchableText(fact), asked);
        return { sessionId: originalText(row.session_id), seq: fact.seq, excerpt };
      });
    },
  };
}

function sessionInfo({ id, title, facts, created_at, updated_at }: PostgresRow): SessionInfo {
  return {
    id: originalText(id),
    ...(title !== "" && { title: originalText(title) }),
    facts: Number(facts),
    createdAt: Number(created_at),
    updatedAt: Number(updated_at),
  };
}

function runInfo({ id, session_id, agent, state, started_at, updated_at }: PostgresRow): RunInfo {
  return {
    runId: originalText(id),
    sessionId: originalText(session_id),
    agent: originalText(agent),
    state: state as RunInfo["state"],
    startedAt: Number(started_at),
    updatedAt: Number(updated_at),
  };
}
