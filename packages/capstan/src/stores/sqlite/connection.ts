import { accessSync, constants, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { AgentError } from "../../base/errors.ts";
import { createFileGuard } from "./file-guard.ts";
import { assertOurs, migrate } from "./migrations.ts";
import { isBusy, toStoreError } from "./store-error.ts";

export type SqlValue = string | number | null | Uint8Array;

/** The database operations the store uses. Statements are prepared once; errors are thrown as SQLite reports them. */
export interface Connection {
  readonly file: string;
  get<Row>(sql: string, ...values: SqlValue[]): Row | undefined;
  all<Row>(sql: string, ...values: SqlValue[]): Row[];
  /** Returns the number of changed rows. */
  run(sql: string, ...values: SqlValue[]): number;
  exec(sql: string): void;
  isTransaction(): boolean;
  /** Throws `store_failed` when the file was deleted or replaced since it was opened. */
  assertFileInPlace(): void;
  close(): void;
}

// The check reads the whole file. Larger files are not checked on opening, and damage is found when it is read.
const maxCheckedBytes = 64 * 1024 * 1024;
// Blocks the event loop, so longer waits retry asynchronously.
const blockingWaitMs = 5;

/** Opens the file of a store, or creates it. A rejected file is not modified. */
export function openConnection(file: string, busyTimeoutMs: number): Connection {
  try {
    assertUsable(file);
    const connection = createConnection(file, new DatabaseSync(file, { timeout: busyTimeoutMs }));
    try {
      prepareDatabase(connection, busyTimeoutMs);
      return { ...connection, assertFileInPlace: createFileGuard(file) };
    } catch (error) {
      connection.close();
      throw error;
    }
  } catch (error) {
    throw toStoreError(file, error);
  }
}

function prepareDatabase(connection: Connection, busyTimeoutMs: number): void {
  assertOurs(connection);
  assertIntact(connection);
  connection.exec("PRAGMA trusted_schema = OFF; PRAGMA secure_delete = ON; PRAGMA synchronous = FULL");
  connection.exec("PRAGMA auto_vacuum = INCREMENTAL");
  // Otherwise every page that a write changes is first copied to a temporary file, in case the write is rolled back alone.
  connection.exec("PRAGMA temp_store = MEMORY");
  // SQLite does not wait for the lock that changing the journal mode needs.
  retryWhileBusy(busyTimeoutMs, () => connection.exec("PRAGMA journal_mode = WAL"));
  retryWhileBusy(busyTimeoutMs, () => migrate(connection));
  connection.exec(`PRAGMA busy_timeout = ${Math.min(blockingWaitMs, busyTimeoutMs)}`);
}

function retryWhileBusy(ms: number, action: () => void): void {
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

/** Wraps an open database. */
export function createConnection(file: string, database: DatabaseSync): Connection {
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
    get: <Row>(sql: string, ...values: SqlValue[]) => statement(sql).get(...values) as Row | undefined,
    all: <Row>(sql: string, ...values: SqlValue[]) => statement(sql).all(...values) as Row[],
    run: (sql, ...values) => Number(statement(sql).run(...values).changes),
    exec: (sql) => database.exec(sql),
    isTransaction: () => database.isTransaction,
    assertFileInPlace: () => undefined,
    close: () => database.close(),
  };
}

function assertUsable(file: string): void {
  if (file === ":memory:") return;
  const folder = dirname(file);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw createRefusal(
      `Cannot open the store "${file}": the folder "${folder}" does not exist. Create it first.`,
    );
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats && !stats.isFile())
    throw createRefusal(`The store "${file}" is not a file. Use a file path, such as "${file}/capstan.db".`);
  for (const path of stats ? [file, folder] : [folder])
    try {
      accessSync(path, constants.R_OK | constants.W_OK);
    } catch (cause) {
      const message = `Cannot write to the store "${file}". Allow reading and writing of "${path}".`;
      throw new AgentError("store_failed", message, { cause, retryable: false });
    }
}

function assertIntact(connection: Connection): void {
  const { file } = connection;
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > maxCheckedBytes) return;
  const found = connection.get<{ quick_check: string }>("PRAGMA quick_check(1)")?.quick_check;
  if (found === "ok") return;
  throw createRefusal(
    `The store "${file}" is damaged (${found}): restore a backup, or recover readable data with \`sqlite3 FILE .recover\`.`,
  );
}

function createRefusal(message: string): AgentError {
  return new AgentError("store_failed", message, { retryable: false });
}
