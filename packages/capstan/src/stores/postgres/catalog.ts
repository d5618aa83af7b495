import { identifyRunStart } from "../../kernel/ids.ts";
import type { ListOptions, RunInfo, SessionInfo, Store } from "../../runtime/store.ts";
import { clampRowLimit, findNewerVersion } from "../store-rules.ts";
import type { Database, Statement } from "./database.ts";
import { assertStorableId } from "./leases.ts";
import { isSession, scopeColumn } from "./migrations.ts";
import type { PostgresRow } from "./pool.ts";
import { decodeFact, decodeText, encodeText } from "./stored-text.ts";

type Catalog = Pick<
  Store,
  | "read"
  | "findSession"
  | "findRun"
  | "create"
  | "getSession"
  | "list"
  | "measureSession"
  | "measureScope"
  | "listLargest"
  | "remove"
  | "rename"
  | "listRuns"
>;

const sessionColumns = "id, title, facts, created_at, updated_at";

/** Returns the columns of a run, with the version of the newest fact of its session. */
export function buildRunColumns(schema: string): string {
  return `runs.*, (SELECT version FROM ${schema}.facts WHERE facts.session_id = runs.session_id
    ORDER BY seq DESC LIMIT 1) AS version`;
}

/** Creates the queries for sessions and runs. */
export function createCatalog(database: Database, schema: string): Catalog {
  const runColumns = buildRunColumns(schema);
  return {
    async read(sessionId, after = 0, limit) {
      const text = `SELECT seq, version, body FROM ${schema}.facts WHERE session_id = $1 AND seq > $2 ORDER BY seq LIMIT $3`;
      const values = [encodeText(sessionId), Math.min(after, 2 ** 31 - 1), limit ?? null];
      const rows = await database.query("read a session", { text, values });
      return rows.map(decodeFact);
    },
    async findSession(runId) {
      const text = `SELECT session_id FROM ${schema}.runs WHERE id = $1`;
      const [row] = await database.query("find a run", { text, values: [encodeText(runId)] });
      return row && decodeText(row.session_id);
    },
    async findRun(runId) {
      const text = `SELECT ${runColumns}, coalesce((SELECT seq FROM ${schema}.facts
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
    async list(options) {
      const rows = await database.query("list sessions", buildListQuery(schema, options));
      return rows.map(toSessionInfo);
    },
    async measureSession(sessionId) {
      const text = `SELECT bytes FROM ${schema}.sessions WHERE id = $1`;
      const [row] = await database.query("measure a session", { text, values: [encodeText(sessionId)] });
      return Number(row?.bytes ?? 0);
    },
    async measureScope(scope) {
      const text = `SELECT count(*) AS sessions, coalesce(sum(bytes), 0) AS bytes FROM ${schema}.sessions
        WHERE ${scopeColumn} = $1 AND ${isSession}`;
      const [row] = await database.query("measure sessions", { text, values: [encodeText(scope)] });
      return { sessions: Number(row?.sessions), bytes: Number(row?.bytes) };
    },
    async listLargest(limit) {
      const text = `SELECT ${sessionColumns}, bytes FROM ${schema}.sessions WHERE ${isSession}
        ORDER BY bytes DESC, id LIMIT $1`;
      const rows = await database.query("list sessions", { text, values: [clampRowLimit(limit)] });
      return rows.map((row) => ({ ...toSessionInfo(row), bytes: Number(row.bytes) }));
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
      const text = `SELECT ${runColumns} FROM ${schema}.runs WHERE session_id = $1 ORDER BY place DESC LIMIT $2`;
      const values = [encodeText(sessionId), clampRowLimit(limit)];
      return (await database.query("list the runs of a session", { text, values })).map(toRunInfo).reverse();
    },
  };
}

/** Builds the query for a page of sessions, which reads the rows of the page from an index, in order. */
export function buildListQuery(
  schema: string,
  { scope, after, limit = Number.POSITIVE_INFINITY }: ListOptions = {},
): Statement {
  const values: unknown[] = [clampRowLimit(limit)];
  const addValue = (value: unknown) => `$${values.push(value)}`;
  const conditions = [isSession];
  if (scope !== undefined) conditions.push(`${scopeColumn} = ${addValue(encodeText(scope))}`);
  if (after) {
    const time = `${addValue(after.updatedAt)}::float8`;
    conditions.push(
      `updated_at <= ${time} AND (updated_at < ${time} OR id > ${addValue(encodeText(after.id))})`,
    );
  }
  const text = `SELECT ${sessionColumns} FROM ${schema}.sessions WHERE ${conditions.join(" AND ")}
    ORDER BY updated_at DESC, id LIMIT $1`;
  return { text, values };
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

export function toRunInfo({
  id,
  session_id,
  agent,
  state,
  started_at,
  updated_at,
  version,
}: PostgresRow): RunInfo {
  return {
    runId: decodeText(id),
    sessionId: decodeText(session_id),
    agent: decodeText(agent),
    state: state as RunInfo["state"],
    startedAt: Number(started_at),
    updatedAt: Number(updated_at),
    ...findNewerVersion(Number(version)),
  };
}
