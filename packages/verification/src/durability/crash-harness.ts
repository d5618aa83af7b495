import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Fact, Store } from "capstan";
import { checkTrial, type TrialCheck } from "./check-trial.ts";
import { readTrace, type TraceLine } from "./execution-trace.ts";
import { openSharedStore, type StoreAddress } from "./open-shared-store.ts";
import { pauseWorker } from "./pause-worker.ts";
import type { WorkerOptions } from "./run-engine-worker.ts";
import { startWorker, type WorkerProcess } from "./start-worker.ts";

/** A shared store, a trace file, and worker processes that use them. */
export interface CrashHarness {
  readonly store: Store;
  /** Starts a worker and waits until it is ready. */
  startWorker(more?: Partial<WorkerOptions>): Promise<WorkerProcess>;
  /** Stops a worker with SIGSTOP, but not in the middle of a write. */
  pauseWorker(worker: WorkerProcess): Promise<void>;
  /** The lines of one kind in the trace file. */
  getTrace(what: TraceLine["what"]): TraceLine[];
  /** Waits for a line of this kind. */
  waitForTrace(what: TraceLine["what"]): Promise<void>;
  /** Waits for a fact of this type and returns all facts of the run. */
  waitForFact(runId: string, type: Fact["type"]): Promise<readonly Fact[]>;
  check(): Promise<TrialCheck>;
  close(): Promise<void>;
}

const waitTimeoutMs = 30_000;

/** Opens the store, by default a SQLite file in a new folder. */
export function openCrashHarness(leaseMs = 500, storeAddress?: StoreAddress): CrashHarness {
  const folder = mkdtempSync(join(tmpdir(), "capstan-crash-"));
  const address = storeAddress ?? { type: "sqlite", file: join(folder, "store.db") };
  const traceFile = join(folder, "trace.jsonl");
  const store = openSharedStore(address);
  const workers: WorkerProcess[] = [];
  const getTrace = (what: TraceLine["what"]) => readTrace(traceFile).filter((line) => line.what === what);
  return {
    store,
    async startWorker(more = {}) {
      const worker = startWorker({ store: address, traceFile, leaseMs, ...more });
      workers.push(worker);
      await worker.ready;
      return worker;
    },
    pauseWorker: (worker) => pauseWorker(worker, address),
    getTrace,
    waitForTrace: (what) =>
      pollUntil(`a line "${what}"`, async () => getTrace(what).length > 0 || undefined).then(() => undefined),
    waitForFact: (runId, type) =>
      pollUntil(`${type} of ${runId}`, async () => {
        const facts = await store.read(runId);
        return facts.some((fact) => fact.type === type) ? facts : undefined;
      }),
    async check() {
      const sessions = new Map<string, readonly Fact[]>();
      for (const { id } of await store.list()) sessions.set(id, await store.read(id));
      return checkTrial(sessions, readTrace(traceFile));
    },
    async close() {
      for (const worker of workers) worker.signal("SIGKILL");
      await Promise.all(workers.map((worker) => worker.ended));
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function pollUntil<Value>(what: string, look: () => Promise<Value | undefined>): Promise<Value> {
  const deadline = performance.now() + waitTimeoutMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`No ${what} within ${waitTimeoutMs} ms.`);
    await pause(20);
  }
}
