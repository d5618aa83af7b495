import { AgentError } from "../../errors.ts";
import type { Connection } from "./connection.ts";
import { isBusy, sqliteError } from "./store-error.ts";

/** Reading and writing, in turn. Actions are synchronous, so nobody sees a transaction that is not finished. */
export interface Turns {
  read<Result>(action: () => Result): Promise<Result>;
  /**
   * Writes that are asked for in the same round of the event loop are one transaction and one write to the disk. One
   * that throws is undone alone. When the transaction fails, all of them reject, and none is stored.
   */
  write<Result>(action: () => Result): Promise<Result>;
  /** Resolves when all writes so far are done; later ones are refused. */
  close(): Promise<void>;
}

type Write = { action(): unknown; resolve(value: unknown): void; reject(error: unknown): void };

const retryMs = 10;

export function turns(connection: Connection, busyTimeoutMs: number): Turns {
  let queue: Write[] = [];
  let working: Promise<void> | undefined;
  let isClosed = false;

  /** Waits by trying again, so that the event loop does not stand still. */
  async function patiently<Result>(action: () => Result): Promise<Result> {
    const deadline = performance.now() + busyTimeoutMs;
    for (;;)
      try {
        if (connection.isTransaction()) connection.run("ROLLBACK"); // of a write whose undoing failed too
        return action();
      } catch (error) {
        if (!isBusy(error) || performance.now() >= deadline) throw sqliteError(connection.file, error);
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
  }

  async function work(): Promise<void> {
    while (queue.length > 0) {
      await new Promise((resolve) => setImmediate(resolve));
      const batch = queue;
      queue = [];
      const rejectAll = (error: unknown) => {
        for (const { reject } of batch) reject(error);
      };
      await patiently(() => {
        connection.run("BEGIN IMMEDIATE");
        performAll(connection, batch, rejectAll);
      }).catch(rejectAll);
    }
    working = undefined;
  }

  function assertOpen(): void {
    if (!isClosed) return;
    throw new AgentError("store_failed", `The store "${connection.file}" is closed.`, { retryable: false });
  }

  return {
    async read(action) {
      assertOpen();
      return patiently(action);
    },
    write: <Result>(action: () => Result) =>
      new Promise<Result>((resolve, reject) => {
        assertOpen();
        queue.push({ action, resolve: resolve as Write["resolve"], reject });
        working ??= work();
      }),
    async close() {
      isClosed = true;
      await working;
    },
  };
}

function performAll(
  connection: Connection,
  batch: readonly Write[],
  rejectAll: (error: unknown) => void,
): void {
  try {
    const settle = batch.map((write) => perform(connection, write));
    connection.run("COMMIT");
    for (const tell of settle) tell();
  } catch (error) {
    rejectAll(sqliteError(connection.file, error));
    undo(connection);
  }
}

function undo(connection: Connection): void {
  try {
    if (connection.isTransaction()) connection.run("ROLLBACK");
  } catch {
    // It is tried again before anything else is read or written.
  }
}

/** Performs one write of a transaction and gives how to tell its outcome, once that is certain. */
function perform(connection: Connection, { action, resolve, reject }: Write): () => void {
  connection.run("SAVEPOINT one");
  try {
    const value = action();
    connection.run("RELEASE one");
    return () => resolve(value);
  } catch (error) {
    if (!connection.isTransaction()) throw error; // SQLite has undone all of it
    connection.run("ROLLBACK TO one");
    connection.run("RELEASE one");
    return () => reject(sqliteError(connection.file, error));
  }
}
