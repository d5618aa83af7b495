import { AgentError } from "../../errors.ts";
import type { Connection } from "./connection.ts";

/** Says that a file is ours: "CAPS", kept in the header of the file. */
const applicationId = 0x43415053;

/** The version of facts as JSON. A fact of a later version is refused, never guessed at. */
export const factVersion = 1;

// One step per version of the file; a step that was released is never edited. Text that people and providers
// choose is kept as `sqlite-text.ts` says, time in milliseconds since the epoch. `facts.fact` is the fact as JSON,
// without its `seq`. `told.message` is JSON too, and NULL when it was heard. A row of `search` has the words of the
// fact of the same number, as `wordsOf` gives them. `blobs.form` is `bytes`, `utf8` or `utf16le`. `records.body` is
// JSON, and NULL when the record was removed: the row then holds its number.
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

/** The version of the files that this code writes. */
export const fileVersion: number = migrations.length;

/** Refuses what is not a store of ours or is from the future, before anything is written to it. */
export function assertOurs(connection: Connection): void {
  const { file } = connection;
  const version = pragma(connection, "user_version");
  const id = pragma(connection, "application_id");
  if (id === 0 && version === 0 && isEmpty(connection)) return;
  if (id !== applicationId)
    throw refusal(`The file "${file}" is a SQLite database of another program: name another file.`);
  if (version > fileVersion)
    throw refusal(
      `The store "${file}" is of version ${version}, and this program knows versions up to ${fileVersion}: update the program, or name another file.`,
    );
}

/** Brings an empty or older file up to date: all of it, or nothing. */
export function migrate(connection: Connection): void {
  if (pragma(connection, "user_version") === fileVersion) return;
  connection.exec("BEGIN IMMEDIATE");
  try {
    // Another process may have been faster.
    for (let version = pragma(connection, "user_version"); version < fileVersion; version++)
      connection.exec(migrations[version] ?? "");
    connection.exec(`PRAGMA application_id = ${applicationId}`);
    connection.exec(`PRAGMA user_version = ${fileVersion}`);
    connection.exec("COMMIT");
  } catch (error) {
    if (connection.isTransaction()) connection.exec("ROLLBACK");
    throw error;
  }
}

function pragma(connection: Connection, name: "user_version" | "application_id"): number {
  return connection.get<Record<string, number>>(`PRAGMA ${name}`)?.[name] ?? 0;
}

function isEmpty(connection: Connection): boolean {
  return connection.get("SELECT 1 FROM sqlite_schema LIMIT 1") === undefined;
}

function refusal(message: string): AgentError {
  return new AgentError("store_failed", message, { retryable: false });
}
