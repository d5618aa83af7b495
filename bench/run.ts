// Compares Capstan with a hand-written floor and other frameworks, and prints tables. See README.md.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Effort } from "./cell.ts";
import { updateReadme } from "./markdown.ts";
import { getPeer, type Peer, peers } from "./peers.ts";
import { createPlot } from "./plot.ts";
import { formatReport } from "./report.ts";
import { measureAll } from "./rounds.ts";
import { allWorks, findWork } from "./works.ts";

const help = `Compares Capstan with a hand-written floor and other frameworks.

  npm run bench                               everything, about 45 minutes; updates bench/README.md and the plot
  npm run bench -- --quick                    Capstan and the floor in under two minutes; checks that runs are correct
  npm run bench -- --peer pi --work burst     only these and the floor; both options can be repeated

  --rounds <n>   number of rounds; default 3, with --quick 1

Peers: ${peers.map(({ name }) => name).join(", ")}
Works: ${allWorks.join(", ")}
Other frameworks are installed in bench/peers on first use.
`;

type Options = {
  readonly peers: readonly Peer[];
  readonly works: readonly string[];
  readonly rounds: number;
  readonly effort: Effort;
  /** The complete benchmark, whose results are written to the README. */
  readonly isWhole: boolean;
};

function parseOptions(args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      peer: { type: "string", multiple: true },
      work: { type: "string", multiple: true },
      rounds: { type: "string" },
      quick: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return undefined;
  const { quick, peer = quick ? ["capstan"] : peers.map(({ name }) => name), work } = values;
  for (const name of work ?? []) findWork(name);
  const rounds = Number(values.rounds ?? (quick ? 1 : 3));
  if (!Number.isInteger(rounds) || rounds < 1)
    throw new Error(`--rounds must be a positive integer, not "${values.rounds}".`);
  return {
    // Always include the floor: every figure is a ratio to it.
    peers: [...new Set(["floor", ...peer])].map(getPeer),
    works: work ?? allWorks.filter((name) => !quick || name !== "install"),
    rounds,
    effort: quick
      ? { warmUpMs: 200, samples: 2, sampleMs: 150, maxSamplingMs: 6_000 }
      : { warmUpMs: 1500, samples: 4, sampleMs: 400, maxSamplingMs: 6_000 },
    isWhole: !quick && !values.peer && !work,
  };
}

function writeResults(tables: string, picture: string): void {
  updateReadme("results", tables);
  writeFileSync(join(import.meta.dirname, "results.svg"), picture);
}

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  if (!options) return console.log(help);
  if (!existsSync(join(import.meta.dirname, "../packages/capstan/dist/index.js")))
    throw new Error("Capstan is not built: run `npm run build` first.");
  const results = await measureAll(options);
  const tables = formatReport(results);
  console.log(tables);
  if (options.isWhole) writeResults(tables, createPlot(results));
  const wrong = results.failures.filter(({ peer }) => peer === "capstan" || peer === "floor");
  if (wrong.length > 0) process.exitCode = 1;
}

await main().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
