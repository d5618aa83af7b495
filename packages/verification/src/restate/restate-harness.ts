import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RestateEngine, restate } from "@capstan/restate";
import { type Agent, type Fact, isFact, type Store } from "capstan";
import { checkTrial, type TrialCheck } from "../durability/check-trial.ts";
import { createCrashAgent } from "../durability/crash-agent.ts";
import { readTrace, type TraceLine } from "../durability/execution-trace.ts";
import { openSharedStore, type StoreAddress } from "../durability/open-shared-store.ts";
import { pauseWorker } from "../durability/pause-worker.ts";
import type { WorkerOptions } from "../durability/run-engine-worker.ts";
import { startWorker, type WorkerProcess } from "../durability/start-worker.ts";
import { answersHttp, type Balancer, startBalancer } from "./balancer.ts";
import { type RestateServer, startRestate } from "./start-restate.ts";

/** A Restate server, worker processes behind a balancer, and an engine in this process that executes nothing. */
export type RestateHarness = {
  readonly server: RestateServer;
  readonly store: Store;
  readonly agent: Agent;
  /** Enqueues, sends and reads. */
  readonly client: RestateEngine;
  /** Starts a worker. It is behind the balancer once it is ready, and as long as it answers. */
  addWorker(more?: Partial<WorkerOptions>): WorkerProcess;
  /** Stops a worker with SIGSTOP, but not in the middle of a write. */
  pauseWorker(worker: WorkerProcess): Promise<void>;
  /** Puts later workers behind another balancer: a new deployment. */
  startDeployment(): Promise<void>;
  /** Registers the address of the newest balancer, when one of its workers is ready. */
  register(): Promise<void>;
  getTrace(what: TraceLine["what"]): TraceLine[];
  check(): Promise<TrialCheck>;
  close(): Promise<void>;
};

export type RestateHarnessOptions = {
  /** Default: a SQLite file. */
  readonly store?: StoreAddress | undefined;
  /** Nodes of the Restate server. Default: 1. */
  readonly nodes?: number | undefined;
  /** Default: short ones, so that a trial is over soon. With many runs at once, requests would be repeated too often. */
  readonly times?: { readonly leaseMs: number; readonly recoverEveryMs: number };
};

const workerFile = join(import.meta.dirname, "restate-worker.ts");
const quickTimes = { leaseMs: 400, recoverEveryMs: 500 };

export async function openRestateHarness({
  store: address,
  nodes = 1,
  times = quickTimes,
}: RestateHarnessOptions = {}): Promise<RestateHarness> {
  const folder = mkdtempSync(join(tmpdir(), "capstan-crash-"));
  const traceFile = join(folder, "trace.jsonl");
  const storeAddress = address ?? { type: "sqlite", file: join(folder, "store.db") };
  const server = await startRestate({ nodes });
  const balancers = [await startBalancer()];
  const ingress = await startBalancer({ isHealthy: (port) => answersHttp(port, "/restate/health") });
  for (const { ingressUrl } of server.nodes) ingress.add(Number(new URL(ingressUrl).port));
  const store = openSharedStore(storeAddress);
  const trace = { write: () => undefined, close: () => undefined };
  const agent = createCrashAgent({ trace, reach: () => undefined });
  const client = restate({ ...{ store, agents: agent, ingress: { url: ingress.url } }, ...times });
  const workers: WorkerProcess[] = [];
  const getBalancer = () => balancers.at(-1) as Balancer;
  return {
    ...{ server, store, agent, client },
    addWorker(more = {}) {
      const { leaseMs, recoverEveryMs } = times;
      const program = { file: workerFile, settings: { url: ingress.url, recoverEveryMs } };
      const worker = startWorker({ store: storeAddress, traceFile, leaseMs, program, ...more });
      workers.push(worker);
      const balancer = getBalancer();
      const getPort = () => worker.getPort() ?? 0;
      void worker.ready.then(() => worker.isReady() && balancer.add(getPort()));
      void worker.ended.then(() => balancer.remove(getPort()));
      return worker;
    },
    pauseWorker: (worker) => pauseWorker(worker, storeAddress),
    async startDeployment() {
      balancers.push(await startBalancer());
    },
    async register() {
      const { url, whenAdded } = getBalancer();
      await whenAdded;
      await client.register({ adminUrl: server.adminUrl, url });
    },
    getTrace: (what) => readTrace(traceFile).filter((line) => line.what === what),
    async check() {
      const sessions = new Map<string, readonly Fact[]>();
      for (const { id } of await store.list()) sessions.set(id, await store.read(id));
      return checkTrial(sessions, readTrace(traceFile));
    },
    async close() {
      for (const worker of workers) worker.signal("SIGKILL");
      await Promise.all(workers.map((worker) => worker.ended));
      await client.close();
      await Promise.all([server.stop(), ...[...balancers, ingress].map((balancer) => balancer.close())]);
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Reads the events of a run to its end and approves what it asks for. Returns the numbers of its facts, reader by reader. */
export async function readRun(client: RestateEngine, runId: string): Promise<readonly (readonly number[])[]> {
  const run = client.open(runId);
  const readers: (readonly number[])[] = [];
  for (;;) {
    const numbers: number[] = [];
    for await (const event of run) if (isFact(event)) numbers.push(event.seq);
    readers.push(numbers);
    const result = await run;
    if (result.status !== "waiting") return readers;
    for (const { callId } of result.pending) run.approve(callId);
  }
}
