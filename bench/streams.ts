// Measures event streams of the server beside a bare Hono server that streams the same, and prints a table. See README.md.
import { execFile, fork } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { median, quantile } from "./statistics.ts";
import type { Readings } from "./streams-client.ts";
import type { ServerWord } from "./streams-server.ts";

const help = `Measures many open event streams beside a bare Hono server that streams the same.

  npm run bench:streams               about two minutes; writes the table into bench/README.md
  npm run bench:streams -- --quick    rough figures in a few seconds
`;

/** What every stream says. */
export type StreamOrder = { readonly streams: number; readonly count: number; readonly everyMs: number };

export type StreamCell = {
  readonly kind: "bare" | "capstan" | "sleeper";
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly cpuUsPerEvent: number;
  readonly lost: number;
  /** What is left in the heap of the server when everybody has gone. */
  readonly leftBytes: number;
};

const execute = promisify(execFile);
const here = import.meta.dirname;
const flags = ["--expose-gc", "--conditions=capstan-source", "--disable-warning=ExperimentalWarning"];

/** One server and its readers, each in a process of its own. */
async function streamCell(kind: StreamCell["kind"], order: StreamOrder): Promise<StreamCell> {
  const served = kind === "bare" ? "bare" : "capstan";
  const server = fork(join(here, "streams-server.ts"), [served, JSON.stringify(order)], { execArgv: flags });
  const word = () =>
    new Promise<ServerWord>((resolve) => server.once("message", (said: ServerWord) => resolve(said)));
  const used = async () => {
    server.send("use");
    const said = await word();
    if (said.type !== "used") throw new Error("The server did not say what it has used.");
    return said;
  };
  try {
    const ready = await word();
    const port = ready.type === "ready" ? ready.port : 0;
    const read = async (asked: StreamOrder, sleeper = false): Promise<Readings> => {
      const request = JSON.stringify({ ...asked, port, kind: served, sleeper });
      const { stdout } = await execute(process.execPath, [join(here, "streams-client.ts"), request], {
        maxBuffer: 1e9,
      });
      return JSON.parse(stdout);
    };
    await read({ ...order, streams: Math.ceil(order.streams / 10) }); // what is loaded and compiled once
    const before = await used();
    const { delaysMs, lost, events } = await read(order, kind === "sleeper");
    const after = await used();
    return {
      kind,
      medianMs: median(delaysMs),
      p99Ms: quantile(delaysMs, 0.99),
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

/** The table, as Markdown: the middle of the rounds. */
function streamReport(cells: readonly StreamCell[], { streams, everyMs }: StreamOrder): string {
  const processor = cpus()[0]?.model.trim() ?? "an unknown processor";
  const date = new Date().toISOString().slice(0, 10);
  const rows = (["bare", "capstan", "sleeper"] as const).map((kind) => {
    const own = cells.filter((cell) => cell.kind === kind);
    const middle = (pick: (cell: StreamCell) => number) => median(own.map(pick));
    const lost = own.reduce((sum, cell) => sum + cell.lost, 0);
    const figures = [
      middle(({ medianMs }) => medianMs).toFixed(1),
      middle(({ p99Ms }) => p99Ms).toFixed(1),
      middle(({ cpuUsPerEvent }) => cpuUsPerEvent).toFixed(1),
      `${lost}`,
      (middle(({ leftBytes }) => leftBytes) / 1e6).toFixed(1),
    ];
    return `| ${titles[kind]} | ${figures.join(" | ")} |`;
  });
  return [
    `${date}, Node ${process.version}, ${cpus().length} × ${processor}, \`npm run bench:streams\`: ${streams} streams at once, ${1000 / everyMs} events a second each. The readers share the processors with the server.`,
    "",
    "|  | median delay, ms | 99 of 100 within, ms | CPU per event, µs | lost | heap left, MB |",
    "| --- | ---: | ---: | ---: | ---: | ---: |",
    ...rows,
  ].join("\n");
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { quick: { type: "boolean" }, help: { type: "boolean" } } });
  if (values.help) return void process.stdout.write(help);
  const order = values.quick
    ? { streams: 50, count: 60, everyMs: 50 }
    : { streams: 1000, count: 200, everyMs: 50 };
  const cells: StreamCell[] = [];
  for (let round = 0; round < (values.quick ? 1 : 3); round++)
    for (const kind of ["bare", "capstan", "sleeper"] as const) {
      cells.push(await streamCell(kind, order));
      process.stderr.write(`round ${round + 1}, ${titles[kind]}\n`);
    }
  const report = streamReport(cells, order);
  process.stdout.write(`${report}\n`);
  if (values.quick) return;
  const file = join(here, "README.md");
  const marks = /(<!-- streams -->\n)[\s\S]*(\n<!-- \/streams -->)/;
  writeFileSync(file, readFileSync(file, "utf8").replace(marks, `$1\n${report}\n$2`));
}

if (process.argv[1] === import.meta.filename) await main();
