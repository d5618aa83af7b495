// Measures how fast live tokens reach a reader in another process, bus by bus. See README.md.
import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type BusServer, hasProgram, startNats, startRedis } from "@capstan/verification/bus-servers";
import { type PostgresServer, startPostgres } from "@capstan/verification/postgres";
import type { Store } from "capstan";
import {
  type BusName,
  type BusOrder,
  type BusStore,
  type BusWriterMessage,
  busNames,
  nameSession,
  openBusStore,
  readTime,
  startSessions,
  writeTokens,
} from "./bus-writer.ts";
import { formatEnvironment, formatRounds, formatTable, updateReadme } from "./markdown.ts";
import { readServerCpuMs } from "./process-cpu.ts";
import { computeMedian, computeQuantile } from "./statistics.ts";

const help = `Measures live tokens from one process to another on each bus. Needs Linux.

  npm run bench:buses                  about two minutes; updates bench/README.md and bench/bus-costs.json
  npm run bench:buses -- --quick       rough figures in half a minute; updates nothing
`;

export type BusPlan = Pick<BusOrder, "runs" | "tokensPerSecond" | "seconds"> & {
  readonly rounds: number;
  readonly buses: readonly BusName[];
  log(text: string): void;
};

export type BusCell = {
  readonly bus: BusName;
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly delivered: number;
  /** CPU microseconds per token: in the process that writes, the one that reads, the server of the bus, and Postgres. */
  readonly writerCpuUs: number;
  readonly readerCpuUs: number;
  readonly serverCpuUs: number;
  readonly postgresCpuUs: number;
  /** Messages on the bus per token; unknown for Postgres and 0 there. */
  readonly messages: number;
};

const serverNames = { "in-process": "", postgres: "postgres", redis: "redis-server", nats: "nats-server" };

export async function measureBuses(plan: BusPlan): Promise<readonly BusCell[]> {
  const postgres = await startPostgres({ durable: true });
  const servers: Partial<Record<BusName, BusServer>> = {};
  const cells: BusCell[] = [];
  try {
    if (plan.buses.includes("redis")) servers.redis = await startRedis();
    if (plan.buses.includes("nats")) servers.nats = await startNats();
    for (let round = 0; round < plan.rounds; round++)
      for (const bus of [...plan.buses.slice(round), ...plan.buses.slice(0, round)]) {
        const { runs, tokensPerSecond, seconds } = plan;
        const place = { schema: `bench${cells.length}`, postgresUrl: postgres.url };
        const port = servers[bus]?.port ?? 0;
        const cell = await measureBus({ bus, runs, tokensPerSecond, seconds, ...place, port });
        cells.push(cell);
        plan.log(`round ${round + 1}: ${bus}, median ${cell.medianMs.toFixed(1)} ms`);
      }
  } finally {
    await stopServers([...Object.values(servers)], postgres);
  }
  return cells;
}

async function stopServers(servers: readonly BusServer[], postgres: PostgresServer): Promise<void> {
  await Promise.all(servers.map((server) => server.stop()));
  await postgres.stop();
}

async function measureBus(order: BusOrder): Promise<BusCell> {
  const reader = await openBusStore(order);
  await reader.store.list({ limit: 1 }); // creates the tables
  const writer = order.bus === "in-process" ? await openLocalWriter(order) : await startWriter(order);
  const { delaysMs, stop } = await readTokens(reader.store, order);
  const readServers = () => ({
    server: serverNames[order.bus] ? readServerCpuMs(serverNames[order.bus]) : 0,
    postgres: readServerCpuMs("postgres"),
  });
  const [before, cpu] = [readServers(), process.cpuUsage()];
  const { cpuMs, messages } = await writer.write();
  const { user, system } = process.cpuUsage(cpu);
  const after = readServers();
  stop();
  await reader.close();
  const count = order.runs * order.tokensPerSecond * order.seconds;
  const toUs = (ms: number) => (1_000 * ms) / count;
  return {
    bus: order.bus,
    medianMs: computeMedian(delaysMs),
    p99Ms: computeQuantile(delaysMs, 0.99),
    delivered: delaysMs.length / count,
    writerCpuUs: toUs(cpuMs),
    readerCpuUs: order.bus === "in-process" ? 0 : toUs((user + system) / 1_000),
    serverCpuUs: toUs(after.server - before.server),
    postgresCpuUs: toUs(after.postgres - before.postgres),
    messages: messages / count,
  };
}

type Writer = { write(): Promise<{ readonly cpuMs: number; readonly messages: number }> };

async function startWriter(order: BusOrder): Promise<Writer> {
  const child = fork(join(import.meta.dirname, "bus-writer.ts"), [JSON.stringify(order)], {
    execArgv: ["--conditions=capstan-source", "--disable-warning=ExperimentalWarning"],
  });
  const receive = async (): Promise<BusWriterMessage> => {
    const exited = once(child, "exit").then(() => Promise.reject(new Error("The writer exited.")));
    const [message] = await Promise.race([once(child, "message"), exited]);
    exited.catch(() => undefined);
    return message;
  };
  await receive();
  return {
    async write() {
      child.send("start");
      const message = await receive();
      if (message.type !== "written") throw new Error("The writer did not report its costs.");
      await once(child, "exit");
      return message;
    },
  };
}

/** Two stores in this process. */
async function openLocalWriter(order: BusOrder): Promise<Writer> {
  const writer: BusStore = await openBusStore(order);
  await startSessions(writer.store, order);
  return {
    async write() {
      const [cpu, messages] = [process.cpuUsage(), writer.countMessages()];
      await writeTokens(writer.store, order);
      const { user, system } = process.cpuUsage(cpu);
      await pause(1_000); // the last messages
      await writer.close();
      return { cpuMs: (user + system) / 1_000, messages: writer.countMessages() - messages };
    },
  };
}

/** Follows all runs, and resolves when the subscriptions are in place. Delays are collected as tokens arrive. */
async function readTokens(
  store: Store,
  { runs }: BusOrder,
): Promise<{ delaysMs: readonly number[]; stop(): void }> {
  const delaysMs: number[] = [];
  const lastTimes = new Map<string, number>();
  const stops = Array.from({ length: runs }, (_, index) =>
    store.watch(nameSession(index), (notice) => {
      if (notice.type !== "deltas") return;
      const now = readTime();
      const texts = notice.deltas.map(({ delta }) => (delta.type === "content_delta" ? delta.delta : ""));
      for (const text of texts.join("").trim().split(" ")) {
        const sentAt = Number(text);
        if (sentAt <= (lastTimes.get(nameSession(index)) ?? 0)) continue; // out of order: not delivered
        lastTimes.set(nameSession(index), sentAt);
        delaysMs.push(now - sentAt);
      }
    }),
  );
  await pause(1_500); // until the writer has answered all requests to join
  return { delaysMs, stop: () => void stops.map((stopOne) => stopOne()) };
}

const titles: { readonly [Name in BusName]: string } = {
  "in-process": "in process, `inProcessBus()`",
  postgres: "Postgres NOTIFY, the default",
  redis: "Redis, `redisBus()`",
  nats: "NATS, `natsBus()`",
};

export function formatBusReport(cells: readonly BusCell[], plan: BusPlan): string {
  const load = `load average ${(loadavg()[0] ?? 0).toFixed(1)} at the end`;
  const about = formatEnvironment("npm run bench:buses", formatRounds(plan.rounds), load);
  const rows = summarizeBuses(cells).map((cell) => [
    titles[cell.bus],
    cell.medianMs.toFixed(1),
    cell.p99Ms.toFixed(1),
    `${(100 * cell.delivered).toFixed(2)} %`,
    cell.writerCpuUs.toFixed(1),
    cell.readerCpuUs.toFixed(1),
    cell.serverCpuUs.toFixed(1),
  ]);
  const shape = `${plan.runs} runs, ${plan.tokensPerSecond} tokens a second each, for ${plan.seconds} seconds`;
  const head = ["", "median delay, ms", "99 of 100 within, ms", "delivered", "writer, µs of CPU per token"];
  return `${about}: ${shape}.\n\n${formatTable([...head, "reader", "server"], rows)}`;
}

/** The medians of the rounds. */
export function summarizeBuses(cells: readonly BusCell[]): readonly BusCell[] {
  return [...Map.groupBy(cells, ({ bus }) => bus)].map(([bus, own]) => {
    const keys = Object.keys(own[0] ?? {}).filter((key) => key !== "bus") as Exclude<keyof BusCell, "bus">[];
    const medians = keys.map((key) => [
      key,
      Number(computeMedian(own.map((cell) => cell[key])).toPrecision(4)),
    ]);
    return { bus, ...Object.fromEntries(medians) };
  });
}

function listBuses(): readonly BusName[] {
  return busNames.filter((name) => {
    const program = name === "redis" ? "redis-server" : name === "nats" ? "nats-server" : undefined;
    if (!program || hasProgram(program)) return true;
    console.error(`${name} is skipped: ${program} is not installed.`);
    return false;
  });
}

async function main(): Promise<void> {
  const isOn = { type: "boolean", default: false } as const;
  const { values } = parseArgs({ options: { quick: isOn, help: isOn } });
  if (values.help) return console.log(help);
  const effort = values.quick ? { rounds: 1, seconds: 2 } : { rounds: 3, seconds: 5 };
  const shape = { runs: 200, tokensPerSecond: 50, buses: listBuses() };
  const plan = { ...effort, ...shape, log: (text: string) => console.error(text) };
  const cells = await measureBuses(plan);
  const report = formatBusReport(cells, plan);
  console.log(report);
  if (values.quick || plan.buses.length < busNames.length) return;
  updateReadme("buses", report);
  const file = join(import.meta.dirname, "bus-costs.json");
  writeFileSync(file, `${JSON.stringify(summarizeBuses(cells), undefined, 2)}\n`);
}

if (process.argv[1] === import.meta.filename) await main();
