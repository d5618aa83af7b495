import { AgentError } from "../../base/errors.ts";
import type { Connection } from "./connection.ts";
import { isBusy, toStoreError } from "./store-error.ts";

/** Serializes reads and writes. Actions are synchronous, so no read sees an unfinished transaction. */
export interface WorkQueue {
  read<Result>(action: () => Result): Promise<Result>;
  /**
   * Writes requested in the same event loop turn, up to `maxBatch`, share one transaction and one disk sync. A write that
   * throws is rolled back alone. If the transaction fails, all of them reject and none is stored.
   */
  write<Result>(action: () => Result): Promise<Result>;
  /** Resolves when all queued writes are done; later ones are rejected. */
  close(): Promise<void>;
}

type QueuedWrite = { action(): unknown; resolve(value: unknown): void; reject(error: unknown): void };

const retryMs = 10;
/** Writes per transaction. Further ones wait for the next turn of the event loop, so that a burst does not block it. */
const maxBatch = 64;

export function createWorkQueue(connection: Connection, busyTimeoutMs: number): WorkQueue {
  const queue: QueuedWrite[] = [];
  let draining: Promise<void> | undefined;
  let isClosed = false;

  /** Retries while the file is locked, without blocking the event loop. */
  async function retryWhileBusy<Result>(action: () => Result): Promise<Result> {
    const deadline = performance.now() + busyTimeoutMs;
    for (;;)
      try {
        connection.assertFileInPlace();
        if (connection.isTransaction()) connection.run("ROLLBACK"); // left by a write whose rollback failed
        return action();
      } catch (error) {
        if (!isBusy(error) || performance.now() >= deadline) throw toStoreError(connection.file, error);
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
  }

  async function drainQueue(): Promise<void> {
    while (queue.length > 0) {
      await new Promise((resolve) => setImmediate(resolve));
      const batch = queue.splice(0, maxBatch);
      const rejectAll = (error: unknown) => {
        for (const { reject } of batch) reject(error);
      };
      await retryWhileBusy(() => {
        connection.run("BEGIN IMMEDIATE");
        commitBatch(connection, batch, rejectAll);
      }).catch(rejectAll);
    }
    draining = undefined;
  }

  function assertOpen(): void {
    if (!isClosed) return;
    throw new AgentError("store_failed", `The store "${connection.file}" is closed.`, { retryable: false });
  }

  return {
    async read(action) {
      assertOpen();
      return retryWhileBusy(action);
    },
    write: <Result>(action: () => Result) =>
      new Promise<Result>((resolve, reject) => {
        assertOpen();
        queue.push({ action, resolve: resolve as QueuedWrite["resolve"], reject });
        draining ??= drainQueue();
      }),
    async close() {
      isClosed = true;
      await draining;
    },
  };
}

function commitBatch(
  connection: Connection,
  batch: readonly QueuedWrite[],
  rejectAll: (error: unknown) => void,
): void {
  try {
    const reports = batch.map((write) => applyWrite(connection, write));
    connection.run("COMMIT");
    connection.assertFileInPlace(); // a commit to a deleted file succeeds
    for (const report of reports) report();
  } catch (error) {
    rejectAll(toStoreError(connection.file, error));
    rollBack(connection);
  }
}

function rollBack(connection: Connection): void {
  try {
    if (connection.isTransaction()) connection.run("ROLLBACK");
  } catch {
    // Retried before the next read or write.
  }
}

/** Applies one write of a transaction; returns a function that reports its outcome after the commit. */
function applyWrite(connection: Connection, { action, resolve, reject }: QueuedWrite): () => void {
  connection.run("SAVEPOINT one");
  try {
    const value = action();
    connection.run("RELEASE one");
    return () => resolve(value);
  } catch (error) {
    if (!connection.isTransaction()) throw error; // SQLite rolled back the whole transaction
    connection.run("ROLLBACK TO one");
    connection.run("RELEASE one");
    return () => reject(toStoreError(connection.file, error));
  }
}
