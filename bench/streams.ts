// Measures the server's event streams, compared with a bare Hono server, and prints a table. See README.md.
import { execFile, fork } from "node:child_process";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { formatEnvironment, formatTable, updateReadme } from "./markdown.ts";
import { computeMedian, computeQuantile } from "./statistics.ts";
import type { Readings } from "./streams-client.ts";
import { reportSaturation } from "./streams-saturation.ts";
import type { ServerMessage } from "./streams-server.ts";

const help = `Measures many concurrent event streams, compared with a bare Hono server that sends the same.

  npm run bench:streams                   about four minutes; updates the tables in bench/README.md
  npm run bench:streams -- --quick        rough figures in a few seconds
  npm run bench:streams -- --saturation   only the servers that get more requests than they can take
`;

/** The number of streams, pieces per stream, and the interval. */
export type StreamOrder = { readonly streams: number; readonly count: number; readonly everyMs: number };

export type StreamCell = {
  readonly kind: "bare" | "capstan" | "sleeper";
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly cpuUsPerEvent: number;
  readonly lost: number;
  /** Growth of the server's heap after all readers have disconnected. */
  readonly leftBytes: number;
};

const execute = promisify(execFile);
const here = import.meta.dirname;
const flags = ["--expose-gc", "--conditions=capstan-source", "--disable-warning=ExperimentalWarning"];

/** Measures one server and its readers, each in a separate process. */
async function measureStreams(kind: StreamCell["kind"], order: StreamOrder): Promise<StreamCell> {
  const serverKind = kind === "bare" ? "bare" : "capstan";
  const server = fork(join(here, "streams-server.ts"), [serverKind, JSON.stringify(order)], {
    execArgv: flags,
  });
  const receiveMessage = () =>
    new Promise<ServerMessage>((resolve) =>
      server.once("message", (message: ServerMessage) => resolve(message)),
    );
  const getUsage = async () => {
    server.send("use");
    const message = await receiveMessage();
    if (message.type !== "used") throw new Error("The server did not report its usage.");
    return message;
  };
  try {
    const ready = await receiveMessage();
    const port = ready.type === "ready" ? ready.port : 0;
    const runReaders = async (asked: StreamOrder, sleeper = false): Promise<Readings> => {
      const request = JSON.stringify({ ...asked, port, kind: serverKind, sleeper });
      const { stdout } = await execute(process.execPath, [join(here, "streams-client.ts"), request], {
        maxBuffer: 1e9,
      });
      return JSON.parse(stdout);
    };
    await runReaders({ ...order, streams: Math.ceil(order.streams / 10) }); // warm up
    const before = await getUsage();
    const { delaysMs, lost, events } = await runReaders(order, kind === "sleeper");
    const after = await getUsage();
    return {
      kind,
      medianMs: computeMedian(delaysMs),
      p99Ms: computeQuantile(delaysMs, 0.99),
      cpuUsPerEvent: (after.cpuUs - before.cpuUs) / events,
      lost,
      leftBytes: after.heapBytes - before.heapBytes,
    };
  } finally {
    server.kill("SIGKILL");
  }
}

const titles = {
  bare: "bare Hono",
  capstan: "Capstan",
  sleeper: "Capstan, with one reader that never reads",
} as const;

/** Formats the medians of the rounds as a Markdown table. */
function formatStreamReport(cells: readonly StreamCell[], { streams, everyMs }: StreamOrder): string {
  const rows = (["bare", "capstan", "sleeper"] as const).map((kind) => {
    const kindCells = cells.filter((cell) => cell.kind === kind);
    const computeMiddle = (pick: (cell: StreamCell) => number) => computeMedian(kindCells.map(pick));
    const lost = kindCells.reduce((sum, cell) => sum + cell.lost, 0);
    return [
      titles[kind],
      computeMiddle(({ medianMs }) => medianMs).toFixed(1),
      computeMiddle(({ p99Ms }) => p99Ms).toFixed(1),
      computeMiddle(({ cpuUsPerEvent }) => cpuUsPerEvent).toFixed(1),
      `${lost}`,
      (computeMiddle(({ leftBytes }) => leftBytes) / 1e6).toFixed(1),
    ];
  });
  const about = `${formatEnvironment("npm run bench:streams")}: ${streams} streams at once, ${1000 / everyMs} events a second each. The readers share the processors with the server.`;
  const head = ["", "median delay, ms", "99 of 100 within, ms", "CPU per event, µs", "lost", "heap left, MB"];
  return `${about}\n\n${formatTable(head, rows)}`;
}

async function main(): Promise<void> {
  const isOn = { type: "boolean" } as const;
  const { values } = parseArgs({ options: { quick: isOn, saturation: isOn, help: isOn } });
  if (values.help) return void process.stdout.write(help);
  const saturation = await reportSaturation(values.quick === true);
  process.stdout.write(`${saturation}\n`);
  if (!values.quick) updateReadme("saturation", saturation);
  if (values.saturation) return;
  const order = values.quick
    ? { streams: 50, count: 60, everyMs: 50 }
    : { streams: 1000, count: 200, everyMs: 50 };
  const cells: StreamCell[] = [];
  for (let round = 0; round < (values.quick ? 1 : 3); round++)
    for (const kind of ["bare", "capstan", "sleeper"] as const) {
      cells.push(await measureStreams(kind, order));
      process.stderr.write(`round ${round + 1}, ${titles[kind]}\n`);
    }
  const report = formatStreamReport(cells, order);
  process.stdout.write(`${report}\n`);
  if (!values.quick) updateReadme("streams", report);
}

if (process.argv[1] === import.meta.filename) await main();
