import { AgentError } from "../../base/errors.ts";
import { buildEndedRuns } from "./ended-runs.ts";
import { assertPartitions, buildPartitions } from "./partitions.ts";
import type { PostgresClient, PostgresPool } from "./pool.ts";
import { buildReadyTable } from "./ready-runs.ts";
import { buildSummaryTable } from "./run-summaries.ts";
import {
  buildAppendFunction,
  buildPutRecordFunction,
  buildRemoveFunction,
  buildSearchFunctions,
  buildTellFunction,
} from "./sql-functions.ts";

/** Quotes the name of a schema, because it may be an SQL keyword. Throws `invalid_definition` for an invalid name. */
export function quoteSchema(name: string): string {
  if (/^[a-z_][a-z0-9_]{0,47}$/.test(name) && !name.startsWith("pg_")) return `"${name}"`;
  const message = `"${name}" is not a valid schema name: use up to 48 lower-case letters, digits and "_", not starting with "pg_".`;
  throw new AgentError("invalid_definition", message);
}

/** The scope of a session, as indexed: the part of its id before the first "~", compared by bytes. */
export const scopeColumn = `left(id COLLATE "C", greatest(strpos(id COLLATE "C", '~') - 1, 0))`;

/** Whether the body of a record starts with a number `dueAt`, see `serializeRecord`, and that number. */
export const isDue = `body ~ '^\\{"dueAt":[0-9]'`;
export const dueColumn = `(substring(body from '^\\{"dueAt":([-0-9.e+]{1,25})')::double precision)`;

// Each step upgrades the schema by one version. Released steps never change.
const migrations: readonly ((schema: string, partitions: number) => string)[] = [
  (schema, partitions) => `
    CREATE SEQUENCE ${schema}.tokens;
    CREATE TABLE ${schema}.sessions (
      id text PRIMARY KEY,
      title text NOT NULL DEFAULT '',
      facts integer NOT NULL DEFAULT 0,
      blobs integer NOT NULL DEFAULT 0,
      created_at double precision NOT NULL DEFAULT 0,
      updated_at double precision NOT NULL DEFAULT 0
    );
    CREATE TABLE ${schema}.leases (
      session_id text PRIMARY KEY,
      owner text NOT NULL,
      token bigint NOT NULL,
      until timestamptz NOT NULL
    );
    CREATE TABLE ${schema}.facts (
      session_id text NOT NULL,
      seq integer NOT NULL,
      identity bytea NOT NULL,
      body text NOT NULL,
      words tsvector,
      PRIMARY KEY (session_id, seq),
      UNIQUE (session_id, identity)
    )${partitions > 0 ? " PARTITION BY HASH (session_id)" : ""};
    ${buildPartitions(schema, partitions)}
    CREATE INDEX facts_words ON ${schema}.facts USING gin (words) WHERE words IS NOT NULL;
    CREATE TABLE ${schema}.runs (
      id text PRIMARY KEY,
      session_id text NOT NULL,
      place bigint GENERATED ALWAYS AS IDENTITY,
      agent text NOT NULL,
      state text NOT NULL,
      started_at double precision NOT NULL,
      updated_at double precision NOT NULL
    );
    CREATE INDEX runs_of_session ON ${schema}.runs (session_id, place);
    CREATE INDEX runs_at_work ON ${schema}.runs (place) WHERE state <> 'ended';
    CREATE TABLE ${schema}.told (
      run_id text NOT NULL,
      key text NOT NULL,
      place bigint GENERATED ALWAYS AS IDENTITY,
      heard boolean NOT NULL DEFAULT false,
      body text NOT NULL,
      PRIMARY KEY (run_id, key)
    );
    CREATE INDEX told_unheard ON ${schema}.told (run_id, place) WHERE NOT heard;
    CREATE TABLE ${schema}.blobs (
      session_id text NOT NULL,
      handle text NOT NULL,
      media_type text NOT NULL,
      encoding text NOT NULL,
      data bytea NOT NULL,
      PRIMARY KEY (session_id, handle)
    );
    ${buildTellFunction(schema)}
    ${buildRemoveFunction(schema)}`,
  (schema) => `
    CREATE TABLE ${schema}.records (
      kind text NOT NULL,
      id text NOT NULL,
      version integer NOT NULL,
      body text,
      created_at double precision NOT NULL,
      updated_at double precision NOT NULL,
      writer uuid NOT NULL,
      PRIMARY KEY (kind, id, version)
    );`,
  (schema) => `
    CREATE INDEX sessions_of_scope ON ${schema}.sessions ((${scopeColumn}), updated_at DESC);`,
  buildPutRecordFunction,
  // Programs that know the earlier versions would read newer facts as their own. They call `append`, so they cannot
  // write any longer. New schemas never have it.
  (schema) => `
    ALTER TABLE ${schema}.facts ADD COLUMN version integer NOT NULL DEFAULT 1;
    DROP FUNCTION IF EXISTS ${schema}.append(json, text);
    ${buildAppendFunction(schema)}`,
];

/** A row without facts that was not created explicitly only holds blobs. */
export const isSession = "(facts > 0 OR created_at > 0)";

/**
 * Tables and indexes that earlier versions of Capstan do not need, each keyed by the name of one of its relations. They do
 * not raise the schema's version, so that earlier versions can still use the schema: deleting a session deletes their
 * rows, and a trigger indexes the facts that an earlier version writes.
 */
const additions: Readonly<Record<string, (schema: string) => string>> = {
  snapshots: (schema) => `
    CREATE TABLE ${schema}.snapshots (
      session_id text PRIMARY KEY REFERENCES ${schema}.sessions ON DELETE CASCADE,
      seq integer NOT NULL,
      version integer NOT NULL,
      state text NOT NULL
    );`,
  sessions_by_time: (schema) => `
    ${buildSearchFunctions(schema)}
    UPDATE ${schema}.facts SET words = ${schema}.to_search_words(words, session_id) WHERE words IS NOT NULL;
    CREATE INDEX sessions_by_scope_and_time ON ${schema}.sessions ((${scopeColumn}), updated_at DESC, id)
      WHERE ${isSession};
    CREATE INDEX sessions_by_time ON ${schema}.sessions (updated_at DESC, id) WHERE ${isSession};
    CREATE TRIGGER facts_words BEFORE INSERT ON ${schema}.facts FOR EACH ROW WHEN (NEW.words IS NOT NULL)
      EXECUTE FUNCTION ${schema}.set_search_words();`,
  sessions_by_size: (schema) => `
    ALTER TABLE ${schema}.sessions ADD COLUMN bytes bigint NOT NULL DEFAULT 0;
    UPDATE ${schema}.sessions SET bytes =
      (SELECT coalesce(sum(octet_length(body)), 0) FROM ${schema}.facts WHERE session_id = sessions.id) +
      (SELECT coalesce(sum(octet_length(data)), 0) FROM ${schema}.blobs WHERE session_id = sessions.id);
    CREATE INDEX sessions_by_size ON ${schema}.sessions (bytes DESC, id) WHERE ${isSession};
    ${buildAppendFunction(schema)}`,
  ready: (schema) => `
    ${buildAppendFunction(schema)}
    ${buildTellFunction(schema)}
    ${buildReadyTable(schema)}`,
  requests: (schema) => `
    CREATE TABLE ${schema}.requests (
      session_id text NOT NULL REFERENCES ${schema}.sessions ON DELETE CASCADE,
      number integer NOT NULL,
      run_id text NOT NULL,
      turn integer NOT NULL,
      body text NOT NULL,
      PRIMARY KEY (session_id, number)
    );
    CREATE INDEX requests_of_turn ON ${schema}.requests (session_id, run_id, turn);
    ${buildAppendFunction(schema)}`,
  runs_by_state: (schema) => `
    CREATE INDEX runs_by_state ON ${schema}.runs (state, place) WHERE state <> 'ended';`,
  records_by_due_time: (schema) => `
    CREATE INDEX records_by_due_time ON ${schema}.records (kind, ${dueColumn}) WHERE ${isDue};`,
  run_summaries: (schema) => `
    ${buildSummaryTable(schema)}
    ${buildAppendFunction(schema)}`,
  ended_runs: buildEndedRuns,
};

/**
 * Creates the schema or migrates it to the latest version; rejects a schema of a later version, or one that was not
 * created with this number of partitions. 0 accepts any.
 */
export async function migrate(pool: PostgresPool, schema: string, partitions: number): Promise<void> {
  await ensureSchema(pool, schema, partitions);
  if (partitions > 0) await assertPartitions(pool, schema, partitions);
}

async function ensureSchema(pool: PostgresPool, schema: string, partitions: number): Promise<void> {
  if (
    (await findVersion(pool, schema)) === migrations.length &&
    (await listMissing(pool, schema)).length === 0
  )
    return;
  const client = await pool.connect();
  let isBroken = true;
  try {
    await client.query("BEGIN");
    await client.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`capstan store ${schema}`]);
    await runMigrations(client, schema, partitions);
    await client.query("COMMIT");
    isBroken = false;
  } finally {
    client.release(isBroken); // discarding a connection rolls back its transaction
  }
}

async function runMigrations(client: PostgresClient, schema: string, partitions: number): Promise<void> {
  const { rows } = await client.query(
    "SELECT to_regclass($1) IS NOT NULL AS is_there, current_setting('server_encoding') AS encoding",
    [`${schema}.version`],
  );
  const encoding = String(rows[0]?.encoding);
  if (encoding !== "UTF8") {
    const message = `The database has the encoding ${encoding}; the store needs UTF8.`;
    throw new AgentError("store_failed", message, { retryable: false });
  }
  const from = rows[0]?.is_there ? await readVersion(client, schema) : 0;
  if (from === 0)
    await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}; CREATE TABLE ${schema}.version (number integer NOT NULL);
      INSERT INTO ${schema}.version VALUES (0)`);
  for (const migration of migrations.slice(from)) await client.query(migration(schema, partitions));
  for (const addition of await listMissing(client, schema)) await client.query(addition(schema));
  await client.query(`UPDATE ${schema}.version SET number = $1`, [migrations.length]);
}

/** Read first, so that a user without permission to create tables can use existing ones. */
async function findVersion(pool: PostgresPool, schema: string): Promise<number> {
  try {
    return await readVersion(pool, schema);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "42P01") return 0; // undefined table
    throw error;
  }
}

/** Returns the additions that the schema does not have yet. */
async function listMissing(
  from: Pick<PostgresPool, "query">,
  schema: string,
): Promise<readonly ((schema: string) => string)[]> {
  const text = "SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass($2 || '.' || name) IS NULL";
  const { rows } = await from.query(text, [Object.keys(additions), schema]);
  return rows.flatMap(({ name }) => additions[String(name)] ?? []);
}

async function readVersion(from: Pick<PostgresPool, "query">, schema: string): Promise<number> {
  const { rows } = await from.query(`SELECT number FROM ${schema}.version`);
  const version = Number(rows[0]?.number ?? 0);
  if (version <= migrations.length) return version;
  const message = `The schema ${schema} has version ${version}, but this version of Capstan supports up to ${migrations.length}. Update Capstan, or use another schema.`;
  throw new AgentError("newer_version", message);
}
