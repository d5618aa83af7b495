import type { RunInfo, SearchHit, SessionInfo, Store } from "../../store.ts";
import { excerptOf, searchableText } from "../search-text.ts";
import { rowLimit } from "../store-rules.ts";
import type { Database } from "./database.ts";
import { assertStorableId } from "./leases.ts";
import { scopeColumn } from "./migrations.ts";
import type { PostgresRow } from "./pool.ts";
import { storeFailure } from "./store-error.ts";
import { askedWords, originalFact, originalText, storedText, wordQuery } from "./stored-text.ts";

type Catalogue = Pick<
  Store,
  | "read"
  | "findSession"
  | "create"
  | "getSession"
  | "list"
  | "remove"
  | "rename"
  | "listRuns"
  | "listOrphans"
  | "search"
>;

const mostFound = 10_000;
const sessionColumns = "id, title, facts, created_at, updated_at";
/** A row that was not made and has no facts is only where blobs wait for them. */
const isSession = "(facts > 0 OR created_at > 0)";

/** What can be asked of sessions and runs. */
export function postgresCatalogue(database: Database, schema: string): Catalogue {
  return {
    async read(sessionId, after = 0, most) {
      const text = `SELECT seq, body FROM ${schema}.facts WHERE session_id = $1 AND seq > $2 ORDER BY seq LIMIT $3`;
      const values = [storedText(sessionId), Math.min(after, 2 ** 31 - 1), most ?? null];
      const rows = await database.query("read a session", { text, values });
      return rows.map(({ seq, body }) => originalFact(body, seq));
    },
    async findSession(runId) {
      const text = `SELECT session_id FROM ${schema}.runs WHERE id = $1`;
      const [row] = await database.query("find a run", { text, values: [storedText(runId)] });
      return row && originalText(row.session_id);
    },
    async create(sessionId, title = "") {
      assertStorableId(sessionId);
      const text = `INSERT INTO ${schema}.sessions AS known (id, title, created_at, updated_at)
        SELECT $1, $2, now, now FROM (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000) AS now) AS clock
        ON CONFLICT (id) DO UPDATE SET title = $2, created_at = excluded.created_at, updated_at = excluded.updated_at
          WHERE known.facts = 0 AND known.created_at = 0`;
      await database.query("make a session", { text, values: [storedText(sessionId), storedText(title)] });
    },
    async getSession(sessionId) {
      const text = `SELECT ${sessionColumns} FROM ${schema}.sessions WHERE id = $1 AND ${isSession}`;
      const [row] = await database.query("look at a session", { text, values: [storedText(sessionId)] });
      return row && sessionInfo(row);
    },
    async list({ scope, limit: most = Number.POSITIVE_INFINITY } = {}) {
      const within = scope === undefined ? "TRUE" : `${scopeColumn} = $2`;
      const text = `SELECT ${sessionColumns} FROM ${schema}.sessions WHERE ${within} AND ${isSession}
        ORDER BY updated_at DESC, id LIMIT $1`;
      const values = [rowLimit(most), ...(scope === undefined ? [] : [storedText(scope)])];
      return (await database.query("list the sessions", { text, values })).map(sessionInfo);
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
    async listRuns(sessionId) {
      const text = `SELECT * FROM ${schema}.runs WHERE session_id = $1 ORDER BY place`;
      const rows = await database.query("list the runs of a session", {
        text,
        values: [storedText(sessionId)],
      });
      return rows.map(runInfo);
    },
    async listOrphans() {
      const text = `SELECT * FROM ${schema}.runs WHERE state <> 'ended'
        AND (state = 'active' OR EXISTS (SELECT FROM ${schema}.told WHERE run_id = runs.id AND NOT heard))
        AND NOT EXISTS (SELECT FROM ${schema}.leases WHERE session_id = runs.session_id AND until > clock_timestamp())
        ORDER BY place`;
      return (await database.query("find runs without an owner", { text, values: [] })).map(runInfo);
    },
    async search(words, { scope, limit: most = 50 } = {}) {
      const asked = askedWords(words);
      if (asked.length === 0) return [];
      const within = `session_id IN (SELECT id FROM ${schema}.sessions WHERE ${scopeColumn} = $3)`;
      const text = `SELECT session_id, seq, body FROM ${schema}.facts, CAST($1 AS tsquery) AS query
        WHERE words @@ query AND ${scope === undefined ? "TRUE" : within}
        ORDER BY ts_rank(words, query, 1) DESC, session_id, seq LIMIT $2`;
      const limits = [
        Math.min(rowLimit(most), mostFound),
        ...(scope === undefined ? [] : [storedText(scope)]),
      ];
      const rows = await database.query("search", { text, values: [wordQuery(asked), ...limits] });
      return rows.map((row) => found(row, asked));
    },
  };
}

function found({ session_id, seq, body }: PostgresRow, asked: readonly string[]): SearchHit {
  const fact = originalFact(body, seq);
  try {
    const excerpt = excerptOf(searchableText(fact), asked);
    return { sessionId: originalText(session_id), seq: fact.seq, excerpt };
  } catch (error) {
    throw storeFailure("read what it found", error); // somebody has written there what is no fact
  }
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
