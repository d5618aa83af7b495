import { identifyRunStart } from "../../ids.ts";
import type { RunInfo, SearchHit, SessionInfo, Store } from "../../store.ts";
import { buildExcerpt, toSearchText } from "../search-text.ts";
import { clampRowLimit } from "../store-rules.ts";
import type { Database } from "./database.ts";
import { assertStorableId } from "./leases.ts";
import { scopeColumn } from "./migrations.ts";
import type { PostgresRow } from "./pool.ts";
import { toStoreError } from "./store-error.ts";
import { buildWordQuery, decodeFact, decodeText, encodeText, splitQuery } from "./stored-text.ts";

type Catalog = Pick<
  Store,
  | "read"
  | "findSession"
  | "findRun"
  | "create"
  | "getSession"
  | "list"
  | "remove"
  | "rename"
  | "listRuns"
  | "listOrphans"
  | "search"
>;

const maxSearchRows = 10_000;
const sessionColumns = "id, title, facts, created_at, updated_at";
/** A row without facts that was not created explicitly only holds blobs. */
const isSession = "(facts > 0 OR created_at > 0)";

/** Creates the queries for sessions, runs and search. */
export function createCatalog(database: Database, schema: string): Catalog {
  return {
    async read(sessionId, after = 0, limit) {
      const text = `SELECT seq, body FROM ${schema}.facts WHERE session_id = $1 AND seq > $2 ORDER BY seq LIMIT $3`;
      const values = [encodeText(sessionId), Math.min(after, 2 ** 31 - 1), limit ?? null];
      const rows = await database.query("read a session", { text, values });
      return rows.map(({ seq, body }) => decodeFact(body, seq));
    },
    async findSession(runId) {
      const text = `SELECT session_id FROM ${schema}.runs WHERE id = $1`;
      const [row] = await database.query("find a run", { text, values: [encodeText(runId)] });
      return row && decodeText(row.session_id);
    },
    async findRun(runId) {
      const text = `SELECT runs.*, coalesce((SELECT seq FROM ${schema}.facts
          WHERE session_id = runs.session_id AND identity = sha256(convert_to($2, 'UTF8'))), 1) AS first_seq
        FROM ${schema}.runs WHERE id = $1`;
      const values = [encodeText(runId), encodeText(identifyRunStart(runId))];
      const [row] = await database.query("find a run", { text, values });
      return row && { ...toRunInfo(row), firstSeq: Number(row.first_seq) };
    },
    async create(sessionId, title = "") {
      assertStorableId(sessionId);
      const text = `INSERT INTO ${schema}.sessions AS known (id, title, created_at, updated_at)
        SELECT $1, $2, now, now FROM (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000) AS now) AS clock
        ON CONFLICT (id) DO UPDATE SET title = $2, created_at = excluded.created_at, updated_at = excluded.updated_at
          WHERE known.facts = 0 AND known.created_at = 0`;
      await database.query("create a session", { text, values: [encodeText(sessionId), encodeText(title)] });
    },
    async getSession(sessionId) {
      const text = `SELECT ${sessionColumns} FROM ${schema}.sessions WHERE id = $1 AND ${isSession}`;
      const [row] = await database.query("read a session", { text, values: [encodeText(sessionId)] });
      return row && toSessionInfo(row);
    },
    async list({ scope, limit = Number.POSITIVE_INFINITY } = {}) {
      const scopeCondition = scope === undefined ? "TRUE" : `${scopeColumn} = $2`;
      const text = `SELECT ${sessionColumns} FROM ${schema}.sessions WHERE ${scopeCondition} AND ${isSession}
        ORDER BY updated_at DESC, id LIMIT $1`;
      const values = [clampRowLimit(limit), ...(scope === undefined ? [] : [encodeText(scope)])];
      return (await database.query("list sessions", { text, values })).map(toSessionInfo);
    },
    async remove(sessionId) {
      const text = `SELECT ${schema}.remove($1)`;
      await database.query("remove a session", { text, values: [encodeText(sessionId)] });
    },
    async rename(sessionId, title) {
      const text = `UPDATE ${schema}.sessions SET title = $2 WHERE id = $1`;
      const values = [encodeText(sessionId), encodeText(title)];
      await database.query("rename a session", { text, values });
    },
    async listRuns(sessionId, limit = Number.POSITIVE_INFINITY) {
      const text = `SELECT * FROM ${schema}.runs WHERE session_id = $1 ORDER BY place DESC LIMIT $2`;
      const values = [encodeText(sessionId), clampRowLimit(limit)];
      return (await database.query("list the runs of a session", { text, values })).map(toRunInfo).reverse();
    },
    async listOrphans() {
      const text = `SELECT * FROM ${schema}.runs WHERE state <> 'ended'
        AND (state = 'active' OR EXISTS (SELECT FROM ${schema}.told WHERE run_id = runs.id AND NOT heard))
        AND NOT EXISTS (SELECT FROM ${schema}.leases WHERE session_id = runs.session_id AND until > clock_timestamp())
        AND NOT EXISTS (SELECT FROM ${schema}.runs AS later
          WHERE later.session_id = runs.session_id AND later.place > runs.place)
        ORDER BY place`;
      return (await database.query("list orphaned runs", { text, values: [] })).map(toRunInfo);
    },
    async search(words, { scope, limit = 50 } = {}) {
      const queryWords = splitQuery(words);
      if (queryWords.length === 0) return [];
      const scopeCondition = `session_id IN (SELECT id FROM ${schema}.sessions WHERE ${scopeColumn} = $3)`;
      const text = `SELECT session_id, seq, body FROM ${schema}.facts, CAST($1 AS tsquery) AS query
        WHERE words @@ query AND ${scope === undefined ? "TRUE" : scopeCondition}
        ORDER BY ts_rank(words, query, 1) DESC, session_id, seq LIMIT $2`;
      const limits = [
        Math.min(clampRowLimit(limit), maxSearchRows),
        ...(scope === undefined ? [] : [encodeText(scope)]),
      ];
      const rows = await database.query("search", { text, values: [buildWordQuery(queryWords), ...limits] });
      return rows.map((row) => toSearchHit(row, queryWords));
    },
  };
}

function toSearchHit({ session_id, seq, body }: PostgresRow, queryWords: readonly string[]): SearchHit {
  const fact = decodeFact(body, seq);
  try {
    const excerpt = buildExcerpt(toSearchText(fact), queryWords);
    return { sessionId: decodeText(session_id), seq: fact.seq, excerpt };
  } catch (error) {
    throw toStoreError("read a search result", error); // the row was not written by this store
  }
}

function toSessionInfo({ id, title, facts, created_at, updated_at }: PostgresRow): SessionInfo {
  return {
    id: decodeText(id),
    ...(title !== "" && { title: decodeText(title) }),
    facts: Number(facts),
    createdAt: Number(created_at),
    updatedAt: Number(updated_at),
  };
}

function toRunInfo({ id, session_id, agent, state, started_at, updated_at }: PostgresRow): RunInfo {
  return {
    runId: decodeText(id),
    sessionId: decodeText(session_id),
    agent: decodeText(agent),
    state: state as RunInfo["state"],
    startedAt: Number(started_at),
    updatedAt: Number(updated_at),
  };
}
