// One cell of the benchmark of durable runs, in a process of its own: one kind of work on one kind of store. Run as a
// program, with its `DurableOrder` as JSON for an argument, it prints its `DurableCell` as JSON. Every run is checked.
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

/** `plain`: `run` on the memory of the process, without an engine. `disk`: only a write and a sync for each append. */
const durableStores = ["disk", "plain", "memory", "sqlite", "postgres"] as const;
export type DurableStore = (typeof durableStores)[number];

export type DurableOrder = {
  readonly store: DurableStore;
  /** `runs`: runs with tools. `wait`: leaves runs that wait for a person. `open`: a fresh process comes to those. */
  readonly work: "runs" | "wait" | "open";
  /** How many runs at once, or how many that wait. */
  readonly runs: number;
  readonly toolTurns: number;
  readonly samples: number;
  /** A sample is at least so long. */
  readonly leastMs: number;
  readonly folder: string;
  /** Of PostgreSQL, with the name of a schema that nobody else uses. */
  readonly postgres?: { readonly url: string; readonly schema: string };
};

export type DurableCell = {
  readonly order: DurableOrder;
  /** For one turn of each of the runs: time on the clock, and of the processor, in microseconds. */
  readonly turnMs: readonly number[];
  readonly turnCpu: readonly number[];
  /** Effects per second, each with its intent and its result stored. */
  readonly stepsPerSecond: readonly number[];
  /** Of runs that wait. */
  readonly bytesPerRun?: number;
  /** One look for runs whose process is gone, and one approval until the end of its run. */
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
  description: "Shows the numbers to everybody",
  input: {},
  effects: "send",
  reads: ["public"],
  needsApproval: true,
  execute: () => "It is published.",
});

/** Answers at once, and from the history alone: any process can go on. */
function modelOf(toolTurns: number, tool: string): Model {
  return {
    id: "counting",
    async *stream({ history }) {
      const made = history.filter(({ type }) => type === "result").length;
      const usage = { type: "usage", usage: { inputTokens: 10, outputTokens: 5 } } as const;
      if (made >= toolTurns)
        yield [{ type: "text", text: answer }, usage, { type: "finish", reason: "stop" }];
      else
        yield [
          { type: "call_start", index: 0, name: tool },
          { type: "call_delta", index: 0, text: JSON.stringify(tool === "square" ? { number: made } : {}) },
          usage,
          { type: "finish", reason: "tool_calls" },
        ];
    },
  };
}

export function problemOf({ status, text, toolCalls }: Result, toolTurns: number): string | undefined {
  if (status !== "done" || text !== answer) return `it ended as ${status} with ${JSON.stringify(text)}`;
  return toolCalls.length === toolTurns ? undefined : `it made ${toolCalls.length} calls`;
}

function openStore({ store, folder, postgres: server }: DurableOrder): Store {
  if (store === "sqlite") return sqlite(join(folder, "bench.db"));
  if (store !== "postgres") return memory();
  if (!server) throw new Error("Say where PostgreSQL is.");
  const pool = new pg.Pool({ connectionString: server.url });
  const opened = postgres(pool, { schema: server.schema });
  return { ...opened, close: () => opened.close().then(() => pool.end()) };
}

export async function measure(order: DurableOrder): Promise<DurableCell> {
  const none = { order, turnMs: [], turnCpu: [], stepsPerSecond: [] };
  if (order.work === "wait") return { ...none, ...(await leaveWaiting(order)) };
  if (order.work === "open") return { ...none, ...(await comeToWaiting(order)) };
  return order.store === "disk" ? diskCell(order) : runsCell(order);
}

async function runsCell(order: DurableOrder): Promise<DurableCell> {
  const { runs, toolTurns, store: kind } = order;
  const store = openStore(order);
  const policy = { maxTurns: "unlimited" } as const;
  const agent = defineAgent({ name: "bench", model: modelOf(toolTurns, "square"), tools: [square], policy });
  const engine = kind === "plain" ? undefined : local({ store, agents: agent });
  const begin = () => (engine ? engine.run(agent, "Square.") : run(agent, "Square.", { store: memory() }));
  const cell = await sampled(order, async () => {
    for (const result of await Promise.all(Array.from({ length: runs }, begin))) {
      const problem = problemOf(result, toolTurns);
      if (problem) throw new Error(`A run of ${toolTurns} tool turns went wrong: ${problem}.`);
    }
  });
  await engine?.close();
  await store.close();
  return cell;
}

// As many bytes and syncs as a turn needs at the least: two intents, two results, an end.
const appendsPerTurn = 5;
const appended = Buffer.alloc(600, "x");

async function diskCell(order: DurableOrder): Promise<DurableCell> {
  const file = openSync(join(order.folder, "floor"), "a");
  const cell = await sampled(order, async () => {
    for (let n = 0; n < (order.toolTurns + 1) * appendsPerTurn; n++) {
      writeSync(file, appended);
      fsyncSync(file);
    }
  });
  closeSync(file);
  return cell;
}

async function sampled(order: DurableOrder, work: () => Promise<void>): Promise<DurableCell> {
  const { runs, toolTurns, leastMs } = order;
  const [turnMs, turnCpu, stepsPerSecond]: [number[], number[], number[]] = [[], [], []];
  const repeat = async () => {
    const startedAt = performance.now();
    for (let times = 1; ; times++) {
      await work();
      const ms = performance.now() - startedAt;
      if (ms >= leastMs) return { times, ms };
    }
  };
  await repeat(); // compiles, and makes the file
  for (let n = 0; n < order.samples; n++) {
    const before = process.cpuUsage();
    const { times, ms } = await repeat();
    const { user, system } = process.cpuUsage(before);
    const turns = times * runs * (toolTurns + 1);
    turnMs.push(ms / turns);
    turnCpu.push((user + system) / turns);
    stepsPerSecond.push((1000 * times * runs * (2 * toolTurns + 1)) / ms);
  }
  return { order, turnMs, turnCpu, stepsPerSecond };
}

const waitingAgent = (): Agent =>
  defineAgent({ name: "bench", model: modelOf(1, "publish"), tools: [publish] });

async function heapAfterCollection(): Promise<number> {
  const collect = globalThis.gc;
  if (!collect) throw new Error("Run it with --expose-gc.");
  await new Promise((resolve) => setTimeout(resolve, 300));
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

/** Of the process that began them and is still there. */
async function leaveWaiting(order: DurableOrder): Promise<Partial<DurableCell>> {
  const store = openStore(order);
  const agent = waitingAgent();
  const engine = local({ store, agents: agent });
  async function leave(from: number, to: number): Promise<void> {
    const some = Array.from({ length: to - from }, (_, n) =>
      engine.run(agent, "Publish.", { runId: `run_${from + n}` }),
    );
    for (const { status } of await Promise.all(some))
      if (status !== "waiting") throw new Error(`A run that must wait is ${status}.`);
  }
  async function leaveAll(from: number, to: number): Promise<void> {
    for (let next = from; next < to; next += 200) await leave(next, Math.min(to, next + 200));
  }
  const first = Math.ceil(order.runs / 5); // what is compiled at first use is no run's own
  await leaveAll(0, first);
  const before = await heapAfterCollection();
  await leaveAll(first, order.runs);
  const bytesPerRun = ((await heapAfterCollection()) - before) / (order.runs - first);
  await engine.close();
  await store.close();
  return { bytesPerRun };
}

/** Of a process that has never seen them. */
async function comeToWaiting(order: DurableOrder): Promise<Partial<DurableCell>> {
  const agent = waitingAgent();
  const warm = local({ store: memory(), agents: agent });
  await warm.run(agent, "Publish.", { runId: "warm" });
  await approved(warm, "warm");
  await warm.close();
  const store = openStore(order);
  await store.listRuns("nobody");
  const before = await heapAfterCollection();
  const engine = local({ store, agents: agent });
  const startedAt = performance.now();
  if ((await engine.recover()).length > 0) throw new Error("A run that waits was taken for a lost one.");
  const lookMs = performance.now() - startedAt;
  const bytesPerRun = ((await heapAfterCollection()) - before) / order.runs;
  const approvalMs = await approved(engine, `run_${Math.floor(order.runs / 2)}`);
  await engine.close();
  await store.close();
  return { bytesPerRun, lookMs, approvalMs };
}

async function approved(engine: ReturnType<typeof local>, runId: string): Promise<number> {
  const opened = engine.open(runId);
  const [pending] = (await opened).pending;
  const startedAt = performance.now();
  const problem = problemOf(await opened.approve(pending?.callId ?? ""), 1);
  if (problem) throw new Error(`An approved run went wrong: ${problem}.`);
  return performance.now() - startedAt;
}

if (process.argv[1] === import.meta.filename) {
  console.log(JSON.stringify(await measure(JSON.parse(process.argv[2] ?? "{}"))));
}
