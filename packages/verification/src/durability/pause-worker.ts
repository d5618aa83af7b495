import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import type { StoreAddress } from "./open-shared-store.ts";
import type { WorkerProcess } from "./start-worker.ts";

/** Stops a worker with SIGSTOP, but not in the middle of a write: it would keep the database locked. */
export async function pauseWorker(worker: WorkerProcess, store: StoreAddress): Promise<void> {
  for (;;) {
    worker.signal("SIGSTOP");
    if (canWrite(store)) return;
    worker.signal("SIGCONT");
    await pause(20);
  }
}

function canWrite(address: StoreAddress): boolean {
  if (address.type !== "sqlite") return true;
  const database = new DatabaseSync(address.file, { timeout: 100 });
  try {
    database.exec("BEGIN IMMEDIATE; ROLLBACK");
    return true;
  } catch {
    return false; // locked
  } finally {
    database.close();
  }
}
