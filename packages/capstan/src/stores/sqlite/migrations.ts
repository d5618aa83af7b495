import { AgentError } from "../../base/errors.ts";
import type { Connection } from "./connection.ts";

/** Identifies our files: "CAPS", stored in the file header. */
const applicationId = 0x43415053;

// One step per file version; a released step is never edited. Free text is encoded as in `stored-text.ts`; times are
// milliseconds since the epoch. `facts.fact` is the fact as JSON, without its `seq`. `told` holds messages to runs:
// `told.message` is JSON, and NULL once it is acknowledged. A row of `search` has the text (`splitWords`) of the fact
// with the same number, and its scope; the counter `indexed` is the number up to which all facts are in it (see
// `derived-tables.ts`). `blobs.form` is `bytes`, `utf8` or `utf16le`. `records.body` is JSON, and NULL for a removed
// record, whose row reserves its version number. `snapshots.state` is JSON. `hidden_sessions` are being written or
// deleted; after `until`, any process may delete them.
const migrations: readonly string[] = [
  `
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO counters VALUES ('token', 0);
CREATE TABLE sessions (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL DEFAULT '',
  facts INTEGER NOT NULL DEFAULT 0,
  created_at REAL NOT NULL DEFAULT 0,
  updated_at REAL NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE facts (
  number INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  identity TEXT NOT NULL,
  version INTEGER NOT NULL,
  fact TEXT NOT NULL,
  UNIQUE (session, seq),
  UNIQUE (session, identity)
) STRICT;
CREATE TABLE runs (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  agent TEXT NOT NULL,
  state TEXT NOT NULL,
  started_at REAL NOT NULL,
  updated_at REAL NOT NULL
) STRICT;
CREATE INDEX runs_of_session ON runs (session);
CREATE INDEX runs_not_ended ON runs (state) WHERE state <> 'ended';
CREATE TABLE told (
  number INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  key TEXT NOT NULL,
  message TEXT,
  UNIQUE (run, key)
) STRICT;
CREATE TABLE leases (
  session TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  token INTEGER NOT NULL,
  until REAL NOT NULL,
  ms REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE blobs (
  session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  handle TEXT NOT NULL,
  media_type TEXT NOT NULL,
  form TEXT NOT NULL,
  size INTEGER NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (session, handle)
) STRICT;
CREATE VIRTUAL TABLE search USING fts5(words, tokenize = 'ascii', detail = none);
INSERT INTO search (search, rank) VALUES ('secure-delete', 1);
`,
  `
CREATE TABLE records (
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  body TEXT,
  created_at REAL NOT NULL,
  updated_at REAL NOT NULL,
  PRIMARY KEY (kind, id, version)
) STRICT;
`,
];

/** A row without facts that was not created explicitly only holds blobs, or is hidden. */
export const isSession = "(facts > 0 OR created_at > 0)";

/** The part of a stored id before the first "~". */
export const scopeColumn = "substr(id, 1, max(0, instr(id, '~') - 1))";

export const hourMs = 3_600_000;
/** The hour in which a run started. */
export const hourColumn: string = `CAST(started_at / ${hourMs} AS INTEGER)`;

const countedColumns = "models, tools, agent, started_at, ended_at, status, cost, tokens, tags, session";

/** Whether the body of a record starts with a number `dueAt`, see `serializeRecord`, and that number. */
export const isDue = `body GLOB '{"dueAt":[0-9]*'`;
export const dueColumn = "CAST(substr(body, 10, 25) AS REAL)";

/** Numbers of deleted facts are used again if they were the last ones; then the counter must not be above them. */
const lowerIndexed = `UPDATE counters SET value = (SELECT ifnull(max(number), 0) FROM facts)
  WHERE name = 'indexed' AND value > (SELECT ifnull(max(number), 0) FROM facts)`;

/** The same for the facts that are in summaries. */
const lowerSummarized = lowerIndexed.replace("'indexed'", "'summarized'");

/** Lowers both counters after facts were deleted. */
export const lowerCounters: readonly string[] = [lowerIndexed, lowerSummarized];

/**
 * Tables and indexes that an earlier version of this program does not need, by the name of one of them. They do not
 * raise the file's version, so that such a program can still use the file: deleting a session deletes their rows, and
 * facts that it writes are indexed by the next search.
 */
const additions: Readonly<Record<string, string>> = {
  snapshots: `
CREATE TABLE snapshots (
  session INTEGER PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  version INTEGER NOT NULL,
  state TEXT NOT NULL
) STRICT;
`,
  sessions_of_scope: `
CREATE INDEX sessions_by_time ON sessions (updated_at DESC, id) WHERE ${isSession};
CREATE INDEX sessions_of_scope ON sessions (${scopeColumn}, updated_at DESC, id) WHERE ${isSession};
`,
  hidden_sessions: `
CREATE TABLE hidden_sessions (
  session INTEGER PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
  until REAL NOT NULL
) STRICT;
`,
  // Words are indexed without case and accents, so the index is built again.
  session_deleted: `
DROP TABLE search;
CREATE VIRTUAL TABLE search USING fts5(words, tokenize = 'ascii', detail = none);
INSERT INTO search (search, rank) VALUES ('secure-delete', 1);
INSERT INTO counters VALUES ('indexed', 0);
CREATE TRIGGER session_deleted AFTER DELETE ON sessions BEGIN ${lowerIndexed}; END;
`,
  // A trigger also measures what an earlier version writes.
  fact_measured: `
ALTER TABLE sessions ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET bytes = (SELECT ifnull(sum(octet_length(fact)), 0) FROM facts WHERE session = sessions.number)
  + (SELECT ifnull(sum(octet_length(data)), 0) FROM blobs WHERE session = sessions.number);
CREATE TRIGGER fact_measured AFTER INSERT ON facts BEGIN
  UPDATE sessions SET bytes = bytes + octet_length(NEW.fact) WHERE number = NEW.session;
END;
CREATE TRIGGER blob_measured AFTER INSERT ON blobs BEGIN
  UPDATE sessions SET bytes = bytes + octet_length(NEW.data) WHERE number = NEW.session;
END;
`,
  // `requests.request` is JSON.
  requests: `
CREATE TABLE requests (
  session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  number INTEGER NOT NULL,
  run TEXT NOT NULL,
  turn INTEGER NOT NULL,
  request TEXT NOT NULL,
  UNIQUE (session, number)
) STRICT;
CREATE INDEX requests_of_turn ON requests (session, run, turn);
CREATE TRIGGER request_measured AFTER INSERT ON requests BEGIN
  UPDATE sessions SET bytes = bytes + octet_length(NEW.request) WHERE number = NEW.session;
END;
`,
  // Claims of processes that take over runs, by the session's id.
  claims: `
CREATE TABLE claims (
  session TEXT PRIMARY KEY,
  claimed_until REAL NOT NULL,
  claim_ms REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER lease_inserted AFTER INSERT ON leases BEGIN DELETE FROM claims WHERE session = NEW.session; END;
CREATE TRIGGER lease_updated AFTER UPDATE OF token ON leases BEGIN DELETE FROM claims WHERE session = NEW.session; END;
CREATE TRIGGER claimed_session_deleted AFTER DELETE ON sessions BEGIN DELETE FROM claims WHERE session = OLD.id; END;
CREATE INDEX told_pending ON told (run) WHERE message IS NOT NULL;
`,
  records_by_due_time: `
CREATE INDEX records_by_due_time ON records (kind, ${dueColumn}) WHERE ${isDue};
`,
  // Summaries of runs. The lists, `usage` and `feedback` are JSON. The counter `summarized` is the number up to which all
  // facts are in them.
  run_summaries: `
CREATE TABLE run_summaries (
  run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
  session INTEGER NOT NULL,
  first_seq INTEGER NOT NULL,
  scope TEXT NOT NULL,
  agent TEXT NOT NULL,
  agent_version TEXT,
  started_at REAL NOT NULL,
  ended_at REAL,
  status TEXT,
  stop_reason TEXT,
  error_code TEXT,
  turns INTEGER NOT NULL DEFAULT 0,
  tool_calls INTEGER NOT NULL DEFAULT 0,
  tokens REAL NOT NULL DEFAULT 0,
  cost REAL NOT NULL DEFAULT 0,
  tools TEXT NOT NULL DEFAULT '[]',
  models TEXT NOT NULL DEFAULT '[]',
  tags TEXT NOT NULL DEFAULT '[]',
  usage TEXT NOT NULL DEFAULT '{"inputTokens":0,"outputTokens":0}',
  title TEXT NOT NULL,
  rating TEXT,
  feedback TEXT
) STRICT;
CREATE INDEX run_summaries_by_session ON run_summaries (session, first_seq);
CREATE INDEX run_summaries_by_time ON run_summaries (started_at, run);
CREATE INDEX run_summaries_by_scope_and_time ON run_summaries (scope, started_at, run);
INSERT INTO counters VALUES ('summarized', 0);
CREATE TRIGGER summarized_session_deleted AFTER DELETE ON sessions BEGIN ${lowerSummarized}; END;
`,
  // Totals are read from these indexes alone. Runs enter them when they end, so that their other updates cost nothing.
  run_summaries_by_hour: `
CREATE INDEX run_summaries_by_hour ON run_summaries (${hourColumn}, ${countedColumns}, scope) WHERE ended_at IS NOT NULL;
CREATE INDEX run_summaries_by_scope_and_hour ON run_summaries (scope, ${hourColumn}, ${countedColumns})
  WHERE ended_at IS NOT NULL;
CREATE INDEX run_summaries_open ON run_summaries (scope, started_at) WHERE ended_at IS NULL;
`,
};

/** Version of the files that this code writes. */
export const fileVersion: number = migrations.length;

/** Rejects a file of another program or of a later version before anything is written to it. */
export function assertOurs(connection: Connection): void {
  const { file } = connection;
  const version = readPragma(connection, "user_version");
  const id = readPragma(connection, "application_id");
  if (id === 0 && version === 0 && isEmptyDatabase(connection)) return;
  if (id !== applicationId)
    throw createRefusal(`The file "${file}" is a SQLite database of another program. Use another file.`);
  if (version > fileVersion)
    throw new AgentError(
      "newer_version",
      `The store "${file}" has version ${version}, but this version of Capstan supports up to ${fileVersion}. Update Capstan, or use another file.`,
    );
}

/** Migrates an empty or older file to the current version, atomically. */
export function migrate(connection: Connection): void {
  if (readPragma(connection, "user_version") === fileVersion && listMissing(connection).length === 0) return;
  connection.exec("BEGIN IMMEDIATE");
  try {
    // Another process may have migrated it already.
    for (let version = readPragma(connection, "user_version"); version < fileVersion; version++)
      connection.exec(migrations[version] ?? "");
    for (const sql of listMissing(connection)) connection.exec(sql);
    connection.exec(`PRAGMA application_id = ${applicationId}`);
    connection.exec(`PRAGMA user_version = ${fileVersion}`);
    connection.exec("COMMIT");
  } catch (error) {
    if (connection.isTransaction()) connection.exec("ROLLBACK");
    throw error;
  }
}

function readPragma(connection: Connection, name: "user_version" | "application_id"): number {
  return connection.get<Record<string, number>>(`PRAGMA ${name}`)?.[name] ?? 0;
}

/** Returns the additions that the file does not have yet. */
function listMissing(connection: Connection): string[] {
  const names = connection.all<{ name: string }>("SELECT name FROM sqlite_schema").map(({ name }) => name);
  return Object.entries(additions).flatMap(([name, sql]) => (names.includes(name) ? [] : [sql]));
}

function isEmptyDatabase(connection: Connection): boolean {
  return connection.get("SELECT 1 FROM sqlite_schema LIMIT 1") === undefined;
}

function createRefusal(message: string): AgentError {
  return new AgentError("store_failed", message, { retryable: false });
}
