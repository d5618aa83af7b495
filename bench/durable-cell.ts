// Measures one cell of the durable benchmark in its own process: one kind of work on one kind of store. As a program, it
// takes a `DurableOrder` as JSON argument and prints a `DurableCell` as JSON. Every run is checked.
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Agent, defineAgent, defineTool, type Result, run } from "capstan";
import { local } from "capstan/engines/local";
import { memory } from "capstan/stores/memory";
import { postgres } from "capstan/stores/postgres";
import { sqlite } from "capstan/stores/sqlite";
import pg from "pg";

type Store = ReturnType<typeof memory>;
type Model = Exclude<Parameters<typeof defineAgent>[0]["model"], string | readonly unknown[]>;

/**
 * `plain`: `run` in memory, without an engine. `disk`: only a write and a sync per step, of all runs at once. `insert`: only
 * an INSERT per step. `factsOnly`: SQLite without the requests to the model.
 */
export type DurableStore = "disk" | "insert" | "plain" | "memory" | "sqlite" | "factsOnly" | "postgres";

export type DurableOrder = {
  readonly store: DurableStore;
  /** `runs`: runs with tools. `wait`: creates runs that wait for approval. `open`: opens those in a fresh process. */
  readonly work: "runs" | "wait" | "open";
  /** Number of concurrent or waiting runs. */
  readonly runs: number;
  readonly toolTurns: number;
  readonly samples: number;
  /** Minimum length of a sample. */
  readonly leastMs: number;
  readonly folder: string;
  /** PostgreSQL server, with an unused schema name. */
  readonly postgres?: { readonly url: string; readonly schema: string };
};

export type DurableCell = {
  readonly order: DurableOrder;
  /** Per turn: wall-clock milliseconds, and CPU microseconds. */
  readonly turnMs: readonly number[];
  readonly turnCpu: readonly number[];
  /** Effects per second, with intent and result stored. */
  readonly stepsPerSecond: readonly number[];
  /** Heap per waiting run. */
  readonly bytesPerRun?: number;
  /** One scan for orphaned runs, and one approval until the end of its run. */
  readonly lookMs?: number;
  readonly approvalMs?: number;
};

const answer = "All numbers are squared.";
const square = defineTool({
  name: "square",
  description: "Squares a number",
  input: { type: "object", properties: { number: { type: "integer" } }, required: ["number"] },
  effects: "none",
  reads: ["public"],
  execute: ({ number }) => `The square of ${number} is ${number * number}.`,
});
const publish = defineTool({
  name: "publish",
  description: "Publishes the numbers",
  input: {},
  effects: "send",
  reads: ["public"],
  needsApproval: true,
  execute: () => "It is published.",
});

/** Answers immediately and from the history only, so that any process can resume the run. */
export function createModel(toolTurns: number, tool: string): Model {
  return {
    id: "counting",
    async *stream({ history }) {
      const callCount = history.filter(({ type }) => type === "result").length;
      const usage = { type: "usage", usage: { inputTokens: 10, outputTokens: 5 } } as const;
      if (callCount >= toolTurns)
        yield [{ type: "text", text: answer }, usage, { type: "finish", reason: "stop" }];
      else
        yield [
          { type: "call_start", index: 0, name: tool },
          {
            type: "call_delta",
            index: 0,
            text: JSON.stringify(tool === "square" ? { number: callCount } : {}),
          },
          usage,
          { type: "finish", reason: "tool_calls" },
        ];
    },
  };
}

export function checkResult({ status, text, toolCalls }: Result, toolTurns: number): string | undefined {
  if (status !== "done" || text !== answer) return `it ended as ${status} with ${JSON.stringify(text)}`;
  return toolCalls.length === toolTurns ? undefined : `it made ${toolCalls.length} calls`;
}

function openStore({ store, folder, postgres: server }: DurableOrder): Store {
  if (store === "sqlite") return sqlite(join(folder, "bench.db"));
  if (store === "factsOnly") {
    const { readRequests: _, ...opened } = sqlite(join(folder, "facts-only.db"));
    return opened;
  }
  if (store !== "postgres") return memory();
  if (!server) throw new Error("PostgreSQL URL is missing.");
  const pool = new pg.Pool({ connectionString: server.url });
  const opened = postgres(pool, { schema: server.schema });
  return { ...opened, close: () => opened.close().then(() => pool.end()) };
}

export async function measureDurableCell(order: DurableOrder): Promise<DurableCell> {
  const none = { order, turnMs: [], turnCpu: [], stepsPerSecond: [] };
  if (order.work === "wait") return { ...none, ...(await measureWaitingRuns(order)) };
  if (order.work === "open") return { ...none, ...(await measureFreshProcess(order)) };
  if (order.store === "disk") return measureDisk(order);
  return order.store === "insert" ? measureInserts(order) : measureRuns(order);
}

async function measureRuns(order: DurableOrder): Promise<DurableCell> {
  const { runs, toolTurns, store: kind } = order;
  const store = openStore(order);
  const policy = { maxTurns: "unlimited" } as const;
  const agent = defineAgent({
    name: "bench",
    model: createModel(toolTurns, "square"),
    tools: [square],
    policy,
  });
  const engine = kind === "plain" ? undefined : local({ store, agents: agent });
  const startRun = () => (engine ? engine.run(agent, "Square.") : run(agent, "Square.", { store: memory() }));
  const cell = await measureSamples(order, async () => {
    for (const result of await Promise.all(Array.from({ length: runs }, startRun))) {
      const problem = checkResult(result, toolTurns);
      if (problem) throw new Error(`A run of ${toolTurns} tool turns went wrong: ${problem}.`);
    }
  });
  await engine?.close();
  await store.close();
  return cell;
}

/** The bytes of the facts of a step: a result, and the intent of the next effect. */
const stepBytes = Buffer.alloc(1_500, "x");

const countSteps = ({ toolTurns }: DurableOrder): number => 2 * toolTurns + 1;

/** Writes and syncs the steps of one run, or each step of all runs together: the least that a disk can do. */
async function measureDisk(order: DurableOrder): Promise<DurableCell> {
  const file = openSync(join(order.folder, "floor"), "a");
  const bytes = Buffer.concat(Array.from({ length: order.runs }, () => stepBytes));
  const cell = await measureSamples(order, async () => {
    for (let step = 0; step < countSteps(order); step++) {
      writeSync(file, bytes);
      fsyncSync(file);
    }
  });
  closeSync(file);
  return cell;
}

/** Inserts a row per step, each in its own transaction; runs at once share the connections of a pool. */
async function measureInserts(order: DurableOrder): Promise<DurableCell> {
  const { url, schema } = order.postgres ?? {};
  const pool = new pg.Pool({ connectionString: url });
  const table = `"${schema}_floor".steps`;
  await pool.query(`CREATE SCHEMA IF NOT EXISTS "${schema}_floor"`);
  await pool.query(
    `CREATE TABLE IF NOT EXISTS ${table} (run text, seq integer, body text, PRIMARY KEY (run, seq))`,
  );
  const body = stepBytes.toString();
  const insertRun = async () => {
    const run = crypto.randomUUID();
    for (let step = 0; step < countSteps(order); step++)
      await pool.query(`INSERT INTO ${table} VALUES ($1, $2, $3)`, [run, step, body]);
  };
  const cell = await measureSamples(order, async () => {
    await Promise.all(Array.from({ length: order.runs }, insertRun));
  });
  await pool.query(`DROP SCHEMA "${schema}_floor" CASCADE`);
  await pool.end();
  return cell;
}

async function measureSamples(order: DurableOrder, work: () => Promise<void>): Promise<DurableCell> {
  const { runs, toolTurns, leastMs } = order;
  const [turnMs, turnCpu, stepsPerSecond]: [number[], number[], number[]] = [[], [], []];
  const repeatWork = async () => {
    const startedAt = performance.now();
    for (let times = 1; ; times++) {
      await work();
      const ms = performance.now() - startedAt;
      if (ms >= leastMs) return { times, ms };
    }
  };
  await repeatWork(); // warm up and create the file
  for (let n = 0; n < order.samples; n++) {
    const before = process.cpuUsage();
    const { times, ms } = await repeatWork();
    const { user, system } = process.cpuUsage(before);
    const turns = times * runs * (toolTurns + 1);
    turnMs.push(ms / turns);
    turnCpu.push((user + system) / turns);
    stepsPerSecond.push((1000 * times * runs * (2 * toolTurns + 1)) / ms);
  }
  return { order, turnMs, turnCpu, stepsPerSecond };
}

const createWaitingAgent = (): Agent =>
  defineAgent({ name: "bench", model: createModel(1, "publish"), tools: [publish] });

async function measureSettledHeap(): Promise<number> {
  const collectGarbage = globalThis.gc;
  if (!collectGarbage) throw new Error("Requires --expose-gc.");
  await new Promise((resolve) => setTimeout(resolve, 300));
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** Measures the process that started the runs. */
async function measureWaitingRuns(order: DurableOrder): Promise<Partial<DurableCell>> {
  const store = openStore(order);
  const agent = createWaitingAgent();
  const engine = local({ store, agents: agent });
  async function startBatch(from: number, to: number): Promise<void> {
    const some = Array.from({ length: to - from }, (_, n) =>
      engine.run(agent, "Publish.", { runId: `run_${from + n}` }),
    );
    for (const { status } of await Promise.all(some))
      if (status !== "waiting") throw new Error(`Expected a waiting run, got ${status}.`);
  }
  async function startAll(from: number, to: number): Promise<void> {
    for (let next = from; next < to; next += 200) await startBatch(next, Math.min(to, next + 200));
  }
  const first = Math.ceil(order.runs / 5); // exclude code that is compiled on first use
  await startAll(0, first);
  const before = await measureSettledHeap();
  await startAll(first, order.runs);
  const bytesPerRun = ((await measureSettledHeap()) - before) / (order.runs - first);
  await engine.close();
  await store.close();
  return { bytesPerRun };
}

/** Measures a process that did not start the runs. */
async function measureFreshProcess(order: DurableOrder): Promise<Partial<DurableCell>> {
  const agent = createWaitingAgent();
  const warm = local({ store: memory(), agents: agent });
  await warm.run(agent, "Publish.", { runId: "warm" });
  await measureApproval(warm, "warm");
  await warm.close();
  const store = openStore(order);
  await store.listRuns("nobody");
  const before = await measureSettledHeap();
  const engine = local({ store, agents: agent });
  const startedAt = performance.now();
  if ((await engine.recover()).length > 0) throw new Error("A waiting run was taken for an orphan.");
  const lookMs = performance.now() - startedAt;
  const bytesPerRun = ((await measureSettledHeap()) - before) / order.runs;
  const approvalMs = await measureApproval(engine, `run_${Math.floor(order.runs / 2)}`);
  await engine.close();
  await store.close();
  return { bytesPerRun, lookMs, approvalMs };
}

async function measureApproval(engine: ReturnType<typeof local>, runId: string): Promise<number> {
  const opened = engine.open(runId);
  const [pending] = (await opened).pending;
  const startedAt = performance.now();
  const problem = checkResult(await opened.approve(pending?.callId ?? ""), 1);
  if (problem) throw new Error(`An approved run went wrong: ${problem}.`);
  return performance.now() - startedAt;
}

if (process.argv[1] === import.meta.filename) {
  console.log(JSON.stringify(await measureDurableCell(JSON.parse(process.argv[2] ?? "{}"))));
}
