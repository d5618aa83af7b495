// Measures the cold start of the command line, compared with a bare Node process. See README.md.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { formatEnvironment, formatRounds, formatTable, updateReadme } from "./markdown.ts";
import { computeMedian } from "./statistics.ts";

const help = `Measures the cold start of \`capstan\`, compared with a bare \`node -e 0\` and \`import "capstan"\`.

  npm run bench:cold-start               about a minute; updates the table in bench/README.md
  npm run bench:cold-start -- --quick    rough figures in a few seconds

  --rounds <n>   number of rounds; default 25, with --quick 3
`;

export type Start = { readonly title: string; readonly nodeArguments: readonly string[] };

/** From the start of a process to its exit. */
export type Cost = { readonly ms: number; readonly cpuMs: number };

/** Costs by title, one per round. */
export type Starts = ReadonlyMap<string, readonly Cost[]>;

const packages = join(import.meta.dirname, "../packages");
const firstAnswer = join(import.meta.dirname, "first-answer.js");

/** The compared commands, from the build or, in tests, from the sources. */
export function listStarts(from: "build" | "source"): readonly Start[] {
  const [bin, flags] =
    from === "build"
      ? [join(import.meta.dirname, "built-cli.js"), []]
      : [join(packages, "cli/bin/capstan.js"), ["--conditions=capstan-source"]];
  return [
    { title: "`node -e 0`", nodeArguments: ["-e", "0"] },
    {
      title: '`import "capstan"`',
      nodeArguments: [...flags, "--input-type=module", "-e", 'import "capstan"'],
    },
    { title: "`capstan --version`", nodeArguments: [...flags, bin, "--version"] },
    { title: "`capstan --help`", nodeArguments: [...flags, bin, "--help"] },
    { title: '`capstan -p "hello"`, the first time', nodeArguments: [...flags, bin, "-p", "hello"] },
    { title: '`capstan -p "hello"`, again', nodeArguments: [...flags, bin, "-p", "hello"] },
    { title: "`capstan serve` to the first answer", nodeArguments: [...flags, firstAnswer, bin] },
  ];
}

type Plan = {
  readonly rounds: number;
  readonly starts: readonly Start[];
  log(text: string): void;
};

/** Every round starts each command once, so that other load on the machine affects all equally. */
export async function measureColdStart({ rounds, starts, log }: Plan): Promise<Starts> {
  const measured = new Map<string, Cost[]>(starts.map(({ title }) => [title, []]));
  for (let round = 0; round < rounds; round++) {
    const home = mkdtempSync(join(tmpdir(), "capstan-bench-"));
    try {
      for (const { title, nodeArguments } of starts)
        measured.get(title)?.push(await startOnce(nodeArguments, home));
    } finally {
      rmSync(home, { recursive: true });
    }
    log(`round ${round + 1} of ${rounds}`);
  }
  return measured;
}

const execute = promisify(execFile);

/** Node cannot report the CPU time of a child, bash can: wall clock, user and system time, in seconds. */
const timeCommand = 'TIMEFORMAT="%3R %3U %3S"; time "$@"';

/** Rejects if the process fails. */
async function startOnce(words: readonly string[], home: string): Promise<Cost> {
  const folders = { HOME: home, TMPDIR: home, CAPSTAN_HOME: home };
  const env = { PATH: process.env.PATH ?? "", ...folders, CAPSTAN_MODEL: "offline" };
  const options = { cwd: join(packages, "cli"), env };
  const started = execute("bash", ["-c", timeCommand, "bash", process.execPath, ...words], options);
  started.child.stdin?.end();
  const { stdout, stderr } = await started;
  if (words.at(-1) === "hello" && stdout.trim() === "") throw new Error("No answer.");
  const [wall = 0, user = 0, system = 0] = (stderr.trim().split("\n").at(-1) ?? "").split(" ").map(Number);
  return { ms: wall * 1000, cpuMs: (user + system) * 1000 };
}

export function formatColdStartReport(starts: Starts): string {
  const [[, floor = []] = []] = starts;
  const about = `${formatEnvironment("npm run bench:cold-start", formatRounds(floor.length))}.`;
  const rows = [...starts].map(([title, costs]) => {
    const formatMedian = (field: keyof Cost) => computeMedian(costs.map((cost) => cost[field])).toFixed(0);
    const ratios = costs.map(({ cpuMs }, round) => cpuMs / (floor[round]?.cpuMs ?? Number.NaN));
    const spread = `${computeMedian(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`;
    return [title, formatMedian("ms"), formatMedian("cpuMs"), spread];
  });
  return `${about}\n\n${formatTable(["", "ms", "ms of CPU", "CPU, times `node -e 0`"], rows)}`;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      rounds: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return console.log(help);
  const rounds = Number(values.rounds ?? (values.quick ? 3 : 25));
  const log = (text: string) => console.error(text);
  const report = formatColdStartReport(await measureColdStart({ rounds, starts: listStarts("build"), log }));
  console.log(report);
  if (!values.quick) updateReadme("cold start", report);
}

if (process.argv[1] === import.meta.filename) await main();
