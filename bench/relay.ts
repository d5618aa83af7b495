// Measures what a streamed piece of text costs a server, from the model's bytes to the reader's, compared with a bare Hono
// server that passes on the same events. See README.md.
import { type ChildProcess, execFile, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { formatEnvironment, formatTable, updateReadme } from "./markdown.ts";
import { computeMedian } from "./statistics.ts";

const help = `Measures the CPU time that a server spends on a piece of text, compared with bare Hono.

  npm run bench:relay              about four minutes; updates the table in bench/README.md
  npm run bench:relay -- --quick   rough figures in a few seconds
`;

/** Runs at once, readers of each, and the pieces of their texts, which the model sends at an interval. */
export type RelayOrder = {
  readonly runs: number;
  readonly readers: number;
  readonly pieces: number;
  readonly everyMs: number;
};

type Kind = "bare" | "capstan";
export type RelayCell = { readonly kind: Kind; readonly order: RelayOrder; readonly cpuUs: number };

const execute = promisify(execFile);
const flags = ["--conditions=capstan-source", "--disable-warning=ExperimentalWarning"];
const getPath = (program: string) => join(import.meta.dirname, program);

async function startProgram(program: string, parameters: readonly string[]): Promise<[ChildProcess, number]> {
  const child = fork(getPath(program), parameters, { execArgv: flags });
  const [port] = await once(child, "message");
  return [child, Number(port)];
}

/** Returns the CPU time of the server per piece that a reader got. The readers must have got the whole text. */
export async function measureRelay(kind: Kind, order: RelayOrder): Promise<RelayCell> {
  const [upstream, upstreamPort] = await startProgram("relay-upstream.ts", [JSON.stringify(order)]);
  const [server, port] = await startProgram("relay-server.ts", [kind, `http://127.0.0.1:${upstreamPort}`]);
  const readCpu = async () => {
    server.send("use");
    const [cpuUs] = await once(server, "message");
    return Number(cpuUs);
  };
  const runReaders = async () => {
    const parameter = JSON.stringify({ ...order, kind, port });
    const { stdout } = await execute(process.execPath, [getPath("relay-readers.ts"), parameter]);
    const lengths: readonly number[] = JSON.parse(stdout);
    if (lengths.length !== order.runs * order.readers || new Set(lengths).size !== 1 || !lengths[0])
      throw new Error(`A reader of ${kind} did not get the whole text: ${[...new Set(lengths)].join(", ")}.`);
  };
  try {
    await runReaders(); // warm up
    const before = await readCpu();
    await runReaders();
    const cpuUs = ((await readCpu()) - before) / (order.runs * order.readers * order.pieces);
    return { kind, order, cpuUs };
  } finally {
    server.kill("SIGKILL");
    upstream.kill("SIGKILL");
  }
}

/** Formats the least and the median of the rounds, and the ratio within each round. */
export function formatRelayReport(cells: readonly RelayCell[]): string {
  const groups = [...Map.groupBy(cells, ({ order }) => JSON.stringify(order)).values()];
  const rows = groups.map((group) => {
    const list = (kind: Kind) => group.filter((cell) => cell.kind === kind).map(({ cpuUs }) => cpuUs);
    const [bare, capstan] = [list("bare"), list("capstan")];
    const ratios = capstan.map((cost, round) => cost / (bare[round] ?? Number.NaN));
    const { runs = 0, readers = 0, everyMs } = group[0]?.order ?? {};
    const title = `${runs} runs, ${readers} ${readers === 1 ? "reader" : "readers"} each, a piece each ${everyMs} ms`;
    const format = (costs: readonly number[]) =>
      `${Math.min(...costs).toFixed(1)}, ${computeMedian(costs).toFixed(1)}`;
    const spread = `${computeMedian(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`;
    return [title, format(bare), format(capstan), spread];
  });
  const head = ["µs of CPU per delivered piece: least, median", "bare Hono", "Capstan", "times bare Hono"];
  const about = `${formatEnvironment("npm run bench:relay")}, both servers measured in turn in each round.`;
  return `${about}\n\n${formatTable(head, rows)}`;
}

const fullOrders: readonly RelayOrder[] = [
  { runs: 100, readers: 1, pieces: 1000, everyMs: 10 },
  { runs: 4, readers: 50, pieces: 500, everyMs: 10 },
];
const quickOrders = fullOrders.map((order) => ({ ...order, pieces: 100 }));

async function main(): Promise<void> {
  const isOn = { type: "boolean" } as const;
  const { values } = parseArgs({ options: { quick: isOn, help: isOn, rounds: { type: "string" } } });
  if (values.help) return void process.stdout.write(help);
  const cells: RelayCell[] = [];
  const rounds = Number(values.rounds ?? (values.quick ? 1 : 5));
  for (let round = 0; round < rounds; round++)
    for (const order of values.quick ? quickOrders : fullOrders)
      for (const kind of round % 2 === 0 ? (["bare", "capstan"] as const) : (["capstan", "bare"] as const))
        cells.push(await measureRelay(kind, order));
  const report = formatRelayReport(cells);
  process.stdout.write(`${report}\n`);
  if (!values.quick) updateReadme("relay", report);
}

if (process.argv[1] === import.meta.filename) await main();
