import { accessSync, constants, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { AgentError } from "../../errors.ts";
import { assertOurs, migrate } from "./migrations.ts";
import { isBusy, sqliteError } from "./store-error.ts";

export type Value = string | number | null | Uint8Array;

/** What the store needs of a database. Statements are prepared once; what fails throws as SQLite says it. */
export interface Connection {
  readonly file: string;
  get<Row>(sql: string, ...values: Value[]): Row | undefined;
  all<Row>(sql: string, ...values: Value[]): Row[];
  /** Gives how many rows were changed. */
  run(sql: string, ...values: Value[]): number;
  exec(sql: string): void;
  isTransaction(): boolean;
  close(): void;
}

// The whole file is read for it: beyond this size, opening would be felt, and damage is found when it is read.
const checkedBytes = 64 * 1024 * 1024;
// The event loop stands still for it; longer waits are made by trying again.
const blockingWaitMs = 5;

/** Opens a store's file, and makes it when it is not there. A file that is refused is left as it is. */
export function openConnection(file: string, busyTimeoutMs: number): Connection {
  try {
    assertUsable(file);
    const connection = connectionTo(file, new DatabaseSync(file, { timeout: busyTimeoutMs }));
    try {
      prepare(connection, busyTimeoutMs);
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  } catch (error) {
    throw sqliteError(file, error);
  }
}

function prepare(connection: Connection, busyTimeoutMs: number): void {
  assertOurs(connection);
  assertSound(connection);
  connection.exec("PRAGMA trusted_schema = OFF; PRAGMA secure_delete = ON; PRAGMA synchronous = FULL");
  connection.exec("PRAGMA auto_vacuum = INCREMENTAL");
  // SQLite does not wait for the lock that a change of mode needs.
  insistently(busyTimeoutMs, () => connection.exec("PRAGMA journal_mode = WAL"));
  insistently(busyTimeoutMs, () => migrate(connection));
  connection.exec(`PRAGMA busy_timeout = ${Math.min(blockingWaitMs, busyTimeoutMs)}`);
}

function insistently(ms: number, action: () => void): void {
  const deadline = performance.now() + ms;
  for (;;)
    try {
      action();
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
}

/** A connection to an open database. */
export function connectionTo(file: string, database: DatabaseSync): Connection {
  const prepared = new Map<string, StatementSync>();
  function statement(sql: string): StatementSync {
    const known = prepared.get(sql);
    if (known) return known;
    const fresh = database.prepare(sql);
    prepared.set(sql, fresh);
    return fresh;
  }
  return {
    file,
    get: <Row>(sql: string, ...values: Value[]) => statement(sql).get(...values) as Row | undefined,
    all: <Row>(sql: string, ...values: Value[]) => statement(sql).all(...values) as Row[],
    run: (sql, ...values) => Number(statement(sql).run(...values).changes),
    exec: (sql) => database.exec(sql),
    isTransaction: () => database.isTransaction,
    close: () => database.close(),
  };
}

function assertUsable(file: string): void {
  if (file === ":memory:") return;
  const folder = dirname(file);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw refusal(`The folder of the store "${file}" does not exist: make the folder "${folder}" first.`);
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats && !stats.isFile())
    throw refusal(`The store "${file}" is not a file: name a file, such as "${file}/capstan.db".`);
  for (const path of stats ? [file, folder] : [folder])
    try {
      accessSync(path, constants.R_OK | constants.W_OK);
    } catch (cause) {
      const message = `The store "${file}" cannot be written: allow reading and writing of "${path}".`;
      throw new AgentError("store_failed", message, { cause, retryable: false });
    }
}

function assertSound(connection: Connection): void {
  const { file } = connection;
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > checkedBytes) return;
  const found = connection.get<{ quick_check: string }>("PRAGMA quick_check(1)")?.quick_check;
  if (found === "ok") return;
  throw refusal(
    `The store "${file}" is damaged (${found}): restore a backup of it, or save what is readable with \`sqlite3 FILE .recover\`.`,
  );
}

function refusal(message: string): AgentError {
  return new AgentError("store_failed", message, { retryable: false });
}
