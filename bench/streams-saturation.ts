// Requests 1,000 and 3,000 streams of one process at once, and probes its health meanwhile. See README.md.
import { execFile, fork } from "node:child_process";
import { once } from "node:events";
import { get } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { formatEnvironment, formatTable } from "./markdown.ts";
import { computeMedian, computeQuantile } from "./statistics.ts";
import type { StreamOrder } from "./streams.ts";
import type { CrowdReadings } from "./streams-crowd.ts";
import type { ServerMessage } from "./streams-server.ts";

const execute = promisify(execFile);
const here = import.meta.dirname;
const flags = ["--expose-gc", "--conditions=capstan-source", "--disable-warning=ExperimentalWarning"];
const probeMs = 50;
const maxMs = 60_000;

type Saturation = CrowdReadings & {
  readonly kind: "bare" | "capstan";
  readonly streams: number;
  /** Delays of `/healthz` on the port of the streams, and on a port of its own. */
  readonly healthMs: readonly number[];
  readonly healthPortMs: readonly number[];
  readonly bytesPerStream: number;
};

type Prober = {
  /** Stops, and resolves with all delays. */
  stop(): Promise<readonly number[]>;
};

/** Probes at a fixed rate, whether earlier probes were answered or not. */
function startProber(port: number): Prober {
  const probes: Promise<number>[] = [];
  const timer = setInterval(() => probes.push(probeHealth(port)), probeMs);
  return {
    stop() {
      clearInterval(timer);
      return Promise.all(probes);
    },
  };
}

function probeHealth(port: number): Promise<number> {
  const sentAt = performance.now();
  return new Promise((resolve) => {
    const end = () => resolve(performance.now() - sentAt);
    const probe = get({ host: "127.0.0.1", port, path: "/healthz", agent: false }, (response) => {
      response.resume().on("end", end);
    });
    probe.on("error", end);
  });
}

async function measureSaturation(kind: Saturation["kind"], order: StreamOrder): Promise<Saturation> {
  const server = fork(join(here, "streams-server.ts"), [kind, JSON.stringify({ ...order, isStored: true })], {
    execArgv: flags,
  });
  try {
    const [ready] = (await once(server, "message")) as [ServerMessage];
    if (ready.type !== "ready") throw new Error("The server did not start.");
    const { port, healthPort } = ready;
    const runCrowd = async (streams: number, count: number): Promise<CrowdReadings> => {
      const asked = JSON.stringify({ ...order, streams, count, port, kind, maxMs });
      const program = join(here, "streams-crowd.ts");
      const { stdout } = await execute(process.execPath, [program, asked], { maxBuffer: 1e9 });
      return JSON.parse(stdout);
    };
    const askUsage = async () => {
      server.send("use");
      const [used] = (await once(server, "message")) as [ServerMessage];
      return used.type === "used" ? used : { heapBytes: Number.NaN, streams: 0 };
    };
    await runCrowd(50, 5); // warm up
    const before = await askUsage();
    const ports = [port, healthPort ?? port];
    const earlier = ports.map(startProber);
    const crowd = runCrowd(order.streams, order.count);
    await new Promise((resolve) => setTimeout(resolve, (order.count * order.everyMs) / 2));
    const delays = earlier.map((prober) => prober.stop()); // measuring memory collects garbage, which takes time
    const during = await askUsage();
    const later = ports.map(startProber);
    const readings = await crowd;
    delays.push(...later.map((prober) => prober.stop()));
    const [one = [], other = [], ...rest] = await Promise.all(delays);
    const [healthMs, healthPortMs] = [
      [...one, ...(rest[0] ?? [])],
      [...other, ...(rest[1] ?? [])],
    ];
    const bytesPerStream = (during.heapBytes - before.heapBytes) / Math.max(1, during.streams);
    return { kind, streams: order.streams, ...readings, healthMs, healthPortMs, bytesPerStream };
  } finally {
    server.kill("SIGKILL");
  }
}

const formatPair = (values: readonly number[]): string =>
  values.length === 0
    ? "–"
    : `${computeMedian(values).toFixed(0)} / ${computeQuantile(values, 0.99).toFixed(0)}`;

/** Measures bare Hono and Capstan in turn, and formats the table. */
export async function reportSaturation(isQuick: boolean): Promise<string> {
  const rows: string[][] = [];
  for (const streams of isQuick ? [200] : [1000, 3000])
    for (const kind of ["bare", "capstan"] as const) {
      const cell = await measureSaturation(kind, { streams, count: isQuick ? 40 : 200, everyMs: 50 });
      process.stderr.write(`${streams} streams, ${kind}\n`);
      rows.push([
        `${streams} streams, ${kind === "bare" ? "bare Hono" : "Capstan"}`,
        formatPair(cell.healthMs),
        kind === "bare" ? "–" : formatPair(cell.healthPortMs),
        formatPair(cell.firstTextMs),
        (cell.bytesPerStream / 1000).toFixed(0),
        `${cell.refusalMs.length}`,
        formatPair(cell.refusalMs),
        `${cell.completed}`,
        `${cell.failed}`,
      ]);
    }
  const about = `${formatEnvironment("npm run bench:streams")}: all streams requested at once, 20 pieces a second each. Times in ms, median / 99 of 100 within.`;
  const head = [
    ...["", "health", "health, own port", "first text", "KB per stream", "refusals", "refused after"],
    ...["completed", "failed"],
  ];
  return `${about}\n\n${formatTable(head, rows)}`;
}
