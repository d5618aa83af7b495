import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Fact } from "../event.ts";
import type { Store } from "../store.ts";
import { type CanaryLine, readCanary } from "./canary.ts";
import { openStore, type StoreAddress } from "./shared-store.ts";
import { startWorker, type Worker } from "./start-worker.ts";
import { judge, type Verdict } from "./verdict.ts";
import type { WorkerOrder } from "./worker.ts";

/** A shared store with a canary file, and workers on it. */
export interface Workshop {
  readonly store: Store;
  /** Starts a worker and waits until it is at work. */
  worker(more?: Partial<WorkerOrder>): Promise<Worker>;
  /** The lines of the canary file of one kind. */
  seen(what: CanaryLine["what"]): CanaryLine[];
  /** Waits until there is a line of this kind. */
  sees(what: CanaryLine["what"]): Promise<void>;
  /** Waits until the run has a fact of this type, and gives all its facts. */
  until(runId: string, type: Fact["type"]): Promise<readonly Fact[]>;
  verdict(): Promise<Verdict>;
  /** Kills the workers and removes all files. */
  close(): Promise<void>;
}

const patienceMs = 30_000;

export function openWorkshop(leaseMs = 500): Workshop {
  const folder = mkdtempSync(join(tmpdir(), "capstan-workshop-"));
  const address: StoreAddress = { type: "sqlite", file: join(folder, "store.db") };
  const canary = join(folder, "canary.jsonl");
  const store = openStore(address);
  const workers: Worker[] = [];
  const seen = (what: CanaryLine["what"]) => readCanary(canary).filter((line) => line.what === what);
  return {
    store,
    async worker(more = {}) {
      const worker = startWorker({ store: address, canary, leaseMs, ...more });
      workers.push(worker);
      await worker.ready;
      return worker;
    },
    seen,
    sees: (what) =>
      patiently(`a line "${what}"`, async () => seen(what).length > 0 || undefined).then(() => undefined),
    until: (runId, type) =>
      patiently(`${type} of ${runId}`, async () => {
        const facts = await store.read(runId);
        return facts.some((fact) => fact.type === type) ? facts : undefined;
      }),
    async verdict() {
      const sessions = new Map<string, readonly Fact[]>();
      for (const { id } of await store.list()) sessions.set(id, await store.read(id));
      return judge(sessions, readCanary(canary));
    },
    async close() {
      for (const worker of workers) worker.signal("SIGKILL");
      await Promise.all(workers.map((worker) => worker.ended));
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function patiently<Value>(what: string, look: () => Promise<Value | undefined>): Promise<Value> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`There was no ${what} within ${patienceMs} ms.`);
    await pause(20);
  }
}
