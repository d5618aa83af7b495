// Measures how long the command line takes from nothing to its first word, beside the least that Node takes. See README.md.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { median } from "./statistics.ts";

const help = `Measures the cold start of \`capstan\` beside a bare \`node -e 0\` and \`import "capstan"\`.

  npm run bench:cold-start               about a minute; writes the table into bench/README.md
  npm run bench:cold-start -- --quick    rough figures in a few seconds

  --rounds <n>   how often everything is started; by default 25, with --quick 3
`;

/** What is started: arguments of Node. */
export type Start = { readonly title: string; readonly words: readonly string[] };

/** From the start of a process to its end. */
export type Cost = { readonly ms: number; readonly cpuMs: number };

/** By title, round by round. */
export type Starts = ReadonlyMap<string, readonly Cost[]>;

const packages = join(import.meta.dirname, "../packages");

/** All that is compared, from what is built or, for a test, from the sources. */
export function startsOf(from: "build" | "source"): readonly Start[] {
  const [bin, flags] =
    from === "build"
      ? [join(packages, "cli/dist/bin.js"), []]
      : [join(packages, "cli/src/bin.ts"), ["--conditions=capstan-source"]];
  return [
    { title: "`node -e 0`", words: ["-e", "0"] },
    { title: '`import "capstan"`', words: [...flags, "--input-type=module", "-e", 'import "capstan"'] },
    { title: "`capstan --version`", words: [...flags, bin, "--version"] },
    { title: "`capstan --help`", words: [...flags, bin, "--help"] },
    { title: '`capstan -p "hello"`, the first time', words: [...flags, bin, "-p", "hello"] },
    { title: '`capstan -p "hello"`, again', words: [...flags, bin, "-p", "hello"] },
  ];
}

type Plan = {
  readonly rounds: number;
  readonly starts: readonly Start[];
  say(text: string): void;
};

/** Every round starts each of them once, so that what else the machine does weighs on all alike. */
export async function measureColdStart({ rounds, starts, say }: Plan): Promise<Starts> {
  const measured = new Map<string, Cost[]>(starts.map(({ title }) => [title, []]));
  for (let round = 0; round < rounds; round++) {
    const home = mkdtempSync(join(tmpdir(), "capstan-bench-"));
    try {
      for (const { title, words } of starts) measured.get(title)?.push(await startOnce(words, home));
    } finally {
      rmSync(home, { recursive: true });
    }
    say(`round ${round + 1} of ${rounds}`);
  }
  return measured;
}

const execute = promisify(execFile);

/** Node cannot tell what a child has used, bash can: wall clock, then user and system time, in seconds. */
const timed = 'TIMEFORMAT="%3R %3U %3S"; time "$@"';

/** A start that fails rejects. */
async function startOnce(words: readonly string[], home: string): Promise<Cost> {
  const env = { PATH: process.env.PATH ?? "", HOME: home, CAPSTAN_HOME: home, CAPSTAN_MODEL: "offline" };
  const options = { cwd: join(packages, "cli"), env };
  const started = execute("bash", ["-c", timed, "bash", process.execPath, ...words], options);
  started.child.stdin?.end();
  const { stdout, stderr } = await started;
  if (words.at(-1) === "hello" && stdout.trim() === "") throw new Error("There was no answer.");
  const [wall = 0, user = 0, system = 0] = (stderr.trim().split("\n").at(-1) ?? "").split(" ").map(Number);
  return { ms: wall * 1000, cpuMs: (user + system) * 1000 };
}

/** The table, as Markdown. */
export function coldStartReport(starts: Starts): string {
  const [[, floor = []] = []] = starts;
  const processor = cpus()[0]?.model.trim() ?? "an unknown processor";
  const date = new Date().toISOString().slice(0, 10);
  const about = `${date}, Node ${process.version}, ${cpus().length} × ${processor}, ${floor.length} ${floor.length === 1 ? "round" : "rounds"}, \`npm run bench:cold-start\`.`;
  const rows = [...starts].map(([title, all]) => {
    const of = (field: keyof Cost) => median(all.map((cost) => cost[field])).toFixed(0);
    const ratios = all.map(({ cpuMs }, round) => cpuMs / (floor[round]?.cpuMs ?? Number.NaN));
    const spread = `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`;
    return `| ${title} | ${of("ms")} | ${of("cpuMs")} | ${spread} |`;
  });
  const head = ["|  | ms | ms of CPU | CPU, times `node -e 0` |", "| --- | ---: | ---: | ---: |"];
  return [about, "", ...head, ...rows].join("\n");
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
  const say = (text: string) => console.error(text);
  const report = coldStartReport(await measureColdStart({ rounds, starts: startsOf("build"), say }));
  console.log(report);
  if (values.quick) return;
  const readme = join(import.meta.dirname, "README.md");
  const [before, rest = ""] = readFileSync(readme, "utf8").split("<!-- cold start -->");
  const [, after = ""] = rest.split("<!-- end of cold start -->");
  writeFileSync(readme, `${before}<!-- cold start -->\n\n${report}\n\n<!-- end of cold start -->${after}`);
}

if (process.argv[1] === import.meta.filename) await main();
