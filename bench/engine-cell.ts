// Measures one cell of the engine benchmark: an engine with a number of worker processes, under a constant load from this
// process, then with one run at a time.
import { statSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { RestateEngine } from "@capstan/restate";
import { startBalancer } from "@capstan/verification/balancer";
import type pg from "pg";
import { countQueries } from "./count-queries.ts";
import { checkResult } from "./durable-cell.ts";
import { countSteps, createBenchAgent } from "./engine-agent.ts";
import type { WorkerCosts } from "./engine-worker.ts";
import { closeWorkers, type EndedRun, startWorkers, type Worker } from "./engine-workers.ts";
import { type EngineAddress, type OpenEngine, openEngine } from "./open-engine.ts";
import { readServerCpuMs } from "./process-cpu.ts";
import { computeMedian } from "./statistics.ts";

export type EngineOrder = {
  readonly address: EngineAddress;
  readonly workers: number;
  readonly toolTurns: number;
  /** Runs in flight under load. */
  readonly concurrency: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** Runs that are measured one after the other, after the load. */
  readonly singleRuns: number;
  readonly adminUrl: string;
};

/** What one run costs, on average. CPU time in milliseconds. */
export type RunCosts = {
  readonly workerCpuMs: number;
  /** In the process that stores the starts. */
  readonly clientCpuMs: number;
  readonly engineCpuMs: number;
  readonly postgresCpuMs: number;
  readonly roundTrips: number;
  readonly trafficBytes: number;
  readonly transactions: number;
  readonly walBytes: number;
  readonly walSyncs: number;
  readonly storedBytes: number;
};

export type EngineCell = {
  readonly order: EngineOrder;
  readonly steps: number;
  readonly stepsPerSecond: number;
  readonly costs: RunCosts;
  /** Of a run alone on the engine: a step, and the rest of the time from storing its start to its end. */
  readonly stepMs: number;
  readonly startMs: number;
};

const getClientTraffic = countQueries();
const runTimeoutMs = 60_000;
const checkedRuns = 5;

export async function measureEngineCell(order: EngineOrder, pool: pg.Pool): Promise<EngineCell> {
  const before = await readDatabase(pool);
  const runs = createRunLoad();
  const workers = await startWorkers(order, runs.onEnd);
  const client = await openEngine(order.address, { agent: createBenchAgent(order.toolTurns), work: false });
  const balancer = await register(order, client, workers);
  try {
    const load = await measureLoad({ order, client, workers, runs, pool });
    const single = await measureSingleRuns(order, client, runs);
    await checkRuns(order, client, runs.listEnded());
    await closeWorkers(workers);
    const total = await readDatabase(pool);
    const count = runs.listEnded().length;
    const stored = await readStoredBytes(order.address, pool);
    return {
      ...{ order, steps: countSteps(order.toolTurns), stepsPerSecond: load.stepsPerSecond, ...single },
      costs: {
        ...load.costs,
        transactions: (total.transactions - before.transactions) / count,
        walSyncs: (total.walSyncs - before.walSyncs) / count,
        storedBytes: stored / count,
      },
    };
  } finally {
    for (const { child } of workers) child.kill("SIGKILL");
    await client.close();
    await balancer?.close();
  }
}

/** Tells Restate where the workers are. */
async function register(
  { address, adminUrl }: EngineOrder,
  { engine }: OpenEngine,
  workers: readonly Worker[],
): Promise<{ close(): Promise<void> } | undefined> {
  if (address.engine !== "restate") return undefined;
  // A busy worker must not be taken for a dead one.
  const balancer = await startBalancer({ isHealthy: async () => true });
  for (const { port } of workers) balancer.add(port);
  await (engine as RestateEngine).register({ adminUrl, url: balancer.url });
  return balancer;
}

type RunLoad = {
  readonly onEnd: (run: EndedRun) => void;
  /** Stores the start of a run, and resolves when it has ended. */
  complete(order: EngineOrder, client: OpenEngine): Promise<EndedRun>;
  listEnded(): readonly string[];
};

function createRunLoad(): RunLoad {
  const waiting = new Map<string, (run: EndedRun) => void>();
  const ended: string[] = [];
  let count = 0;
  return {
    onEnd(run) {
      const { runId } = run;
      if (!waiting.has(runId)) return;
      ended.push(runId);
      waiting.get(runId)?.(run);
      waiting.delete(runId);
    },
    async complete({ address }, { engine, agent }) {
      count += 1;
      const runId = `${address.id}_${count}`;
      const end = Promise.withResolvers<EndedRun>();
      const timer = setTimeout(
        () => end.reject(new Error(`Run ${runId} did not end on ${address.engine}.`)),
        runTimeoutMs,
      );
      waiting.set(runId, end.resolve);
      await engine.enqueue(agent, "Square.", { runId });
      return end.promise.finally(() => clearTimeout(timer));
    },
    listEnded: () => ended,
  };
}

type LoadContext = {
  readonly order: EngineOrder;
  readonly client: OpenEngine;
  readonly workers: readonly Worker[];
  readonly runs: RunLoad;
  readonly pool: pg.Pool;
};

type Load = {
  readonly stepsPerSecond: number;
  readonly costs: Omit<RunCosts, "transactions" | "walSyncs" | "storedBytes">;
};

/** Keeps a constant number of runs in flight, and measures for a while after the warm-up. */
async function measureLoad(context: LoadContext): Promise<Load> {
  const { order, client, runs } = context;
  let isOver = false;
  const submitRuns = async () => {
    while (!isOver) await runs.complete(order, client);
  };
  const submitters = Promise.all(Array.from({ length: order.concurrency }, submitRuns));
  const failed = submitters.then(() => new Promise<never>(() => undefined)); // rejects with what a run failed with
  await Promise.race([failed, waitForRuns(context, order.warmUpMs)]);
  const before = await readCosts(context);
  await Promise.race([failed, waitForRuns(context, order.measureMs)]);
  const after = await readCosts(context);
  isOver = true;
  await submitters;
  const steps = after.steps - before.steps;
  const count = steps / countSteps(order.toolTurns); // runs in flight count in part
  const perRun = (pick: (costs: typeof before) => number) => (pick(after) - pick(before)) / count;
  return {
    stepsPerSecond: (1_000 * steps) / (after.at - before.at),
    costs: {
      workerCpuMs: perRun(({ workerCpuMs }) => workerCpuMs),
      clientCpuMs: perRun(({ clientCpuMs }) => clientCpuMs),
      engineCpuMs: perRun(({ engineCpuMs }) => engineCpuMs),
      postgresCpuMs: perRun(({ postgresCpuMs }) => postgresCpuMs),
      roundTrips: perRun(({ roundTrips }) => roundTrips),
      trafficBytes: perRun(({ trafficBytes }) => trafficBytes),
      walBytes: perRun(({ walBytes }) => walBytes),
    },
  };
}

/** Resolves after this long, and when as many runs have ended as are in flight, so that starts and ends are included. */
async function waitForRuns({ order, runs }: LoadContext, leastMs: number): Promise<void> {
  const count = runs.listEnded().length + order.concurrency;
  await pause(leastMs);
  const deadline = performance.now() + runTimeoutMs;
  while (runs.listEnded().length < count && performance.now() < deadline) await pause(20);
}

async function readCosts({ order, workers, pool }: LoadContext) {
  const [costs, { walBytes }] = await Promise.all([
    Promise.all(workers.map((worker) => worker.readCosts())),
    readDatabase(pool),
  ]);
  const sum = (pick: (costs: WorkerCosts) => number) =>
    costs.reduce((total, workerCosts) => total + pick(workerCosts), 0);
  const { user, system } = process.cpuUsage();
  const client = getClientTraffic();
  const { engine } = order.address;
  return {
    ...{ at: performance.now(), steps: sum(({ steps }) => steps), walBytes },
    workerCpuMs: sum(({ cpuMs }) => cpuMs),
    clientCpuMs: (user + system) / 1_000,
    engineCpuMs: engine === "restate" ? readServerCpuMs("restate-server") : 0,
    postgresCpuMs: engine === "sqlite" ? 0 : readServerCpuMs("postgres"),
    roundTrips: sum(({ roundTrips }) => roundTrips) + client.roundTrips,
    trafficBytes: sum(({ bytes }) => bytes) + client.bytes,
  };
}

async function measureSingleRuns(
  order: EngineOrder,
  client: OpenEngine,
  runs: RunLoad,
): Promise<Pick<EngineCell, "stepMs" | "startMs">> {
  const times: { readonly stepMs: number; readonly startMs: number }[] = [];
  for (let count = 0; count < order.singleRuns; count++) {
    const startedAt = performance.now();
    const { stepMs } = await runs.complete(order, client);
    times.push({ stepMs, startMs: performance.now() - startedAt - stepMs * countSteps(order.toolTurns) });
  }
  return {
    stepMs: computeMedian(times.map(({ stepMs }) => stepMs)),
    startMs: computeMedian(times.map(({ startMs }) => startMs)),
  };
}

async function checkRuns(
  { toolTurns }: EngineOrder,
  { engine }: OpenEngine,
  runIds: readonly string[],
): Promise<void> {
  for (const runId of runIds.slice(-checkedRuns)) {
    const problem = checkResult(await engine.getResult(runId), toolTurns);
    if (problem) throw new Error(`Run ${runId} went wrong: ${problem}.`);
  }
}

/** Transactions and syncs are counted late by Postgres, and completely only when a connection is closed. */
async function readDatabase(pool: pg.Pool) {
  const { rows } = await pool.query(`SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS wal,
    (SELECT sum(xact_commit)::float8 FROM pg_stat_database) AS transactions,
    (SELECT coalesce(sum(fsyncs), 0)::float8 FROM pg_stat_io WHERE object = 'wal') AS syncs`);
  const [{ wal, transactions, syncs }] = rows;
  return { walBytes: wal, transactions, walSyncs: syncs } as {
    readonly walBytes: number;
    readonly transactions: number;
    readonly walSyncs: number;
  };
}

/** Tables with their indexes, or the file. */
async function readStoredBytes({ engine, id, sqliteFile }: EngineAddress, pool: pg.Pool): Promise<number> {
  if (engine === "sqlite") return statSync(sqliteFile).size;
  const { rows } = await pool.query(
    `SELECT sum(pg_total_relation_size(c.oid))::float8 AS bytes FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r' AND n.nspname = ANY ($1)`,
    [[id, `${id}_queue`]],
  );
  return rows[0].bytes;
}
