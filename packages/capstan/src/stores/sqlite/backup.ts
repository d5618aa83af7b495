import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { AgentError } from "../../base/errors.ts";
import { type Connection, createConnection } from "./connection.ts";
import { assertOurs } from "./migrations.ts";
import { isBusy, toStoreError } from "./store-error.ts";

/**
 * Copies the store in `file` to the new file `copy`, readable only by its owner. Other processes may write meanwhile:
 * the copy has everything that was acknowledged before the call, and is consistent. The name `copy` exists only when the
 * copy is complete, checked and on disk. Blocks this process.
 *
 * Throws `store_failed` if `file` is not a store or is damaged, and `invalid_input` if `copy` exists.
 */
export function backupStore(file: string, copy: string): void {
  assertAbsent(copy);
  moveFile(writeCopy(file, copy), copy);
}

/**
 * Puts a backup in the place of the store in `file`, after checking it. With `replace`, an existing store is kept under
 * another name, which is returned. Stop the processes that use the store first.
 *
 * Throws `store_failed` if `backup` is not a complete store, `store_busy` if a process uses `file`, and `invalid_input`
 * if `file` exists and `replace` is not set.
 */
export function restoreStore(
  backup: string,
  file: string,
  { replace = false }: { readonly replace?: boolean } = {},
): string | undefined {
  if (!replace) assertAbsent(file);
  const partial = writeCopy(backup, file);
  try {
    const replaced = existsSync(file) ? moveStoreAway(file) : undefined;
    moveFile(partial, file);
    return replaced;
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
}

function assertAbsent(file: string): void {
  if (existsSync(file)) throw new AgentError("invalid_input", `The file "${file}" already exists.`);
}

/** Writes the copy under a temporary name, which is returned. */
function writeCopy(file: string, copy: string): string {
  const partial = `${copy}.partial`;
  try {
    withDatabase(file, (source) => {
      assertStore(source);
      rmSync(partial, { force: true });
      createPrivateFile(partial);
      // One read transaction, unlike SQLite's backup API, which starts again whenever another process writes.
      source.run("VACUUM INTO ?", partial);
    });
    withDatabase(partial, assertComplete);
    return partial;
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
}

/** Opens a database that is neither migrated nor changed. */
function withDatabase(file: string, use: (connection: Connection) => void): void {
  if (!existsSync(file)) throw createBackupError(`The store "${file}" does not exist.`);
  try {
    const connection = createConnection(file, new DatabaseSync(file, { readOnly: true, timeout: 5_000 }));
    try {
      use(connection);
    } finally {
      connection.close();
    }
  } catch (error) {
    throw toStoreError(file, error);
  }
}

function assertStore(connection: Connection): void {
  assertOurs(connection);
  if (connection.get("SELECT 1 FROM sqlite_schema LIMIT 1") === undefined)
    throw createBackupError(`The file "${connection.file}" is empty. Use the file of a store.`);
}

function assertComplete(connection: Connection): void {
  assertStore(connection);
  const found = connection.get<{ integrity_check: string }>("PRAGMA integrity_check(1)")?.integrity_check;
  if (found !== "ok") throw createBackupError(`The copy of the store is damaged (${found}). Check the disk.`);
}

function createPrivateFile(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new AgentError("invalid_input", `The file "${file}" cannot be written (${code}).`, { cause });
  }
}

/** Renames the store and its log, so that nothing is lost. Throws `store_busy` while a process uses the store. */
function moveStoreAway(file: string): string {
  assertUnused(file);
  const replaced = `${file}.replaced-${new Date().toISOString().replaceAll(/\W/g, "")}`;
  for (const suffix of ["", "-wal", "-shm"])
    if (existsSync(file + suffix)) renameSync(file + suffix, replaced + suffix);
  return replaced;
}

function assertUnused(file: string): void {
  try {
    const database = new DatabaseSync(file);
    try {
      // Succeeds only if no other connection is open.
      database.exec("PRAGMA journal_mode = DELETE");
    } finally {
      database.close();
    }
  } catch (error) {
    // A damaged store cannot be checked, and is the reason to restore a backup.
    if (!isBusy(error)) return;
    const message = `The store "${file}" is in use. Stop the processes that use it, then restore the backup.`;
    throw new AgentError("store_busy", message, { cause: error });
  }
}

function moveFile(from: string, to: string): void {
  sync(from);
  renameSync(from, to);
  if (process.platform !== "win32") sync(dirname(to));
}

function sync(path: string): void {
  const descriptor = openSync(path, "r");
  fsyncSync(descriptor);
  closeSync(descriptor);
}

function createBackupError(message: string): AgentError {
  return new AgentError("store_failed", message, { retryable: false });
}
