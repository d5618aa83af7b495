// Makes worlds by the thousand and says which of them did not keep their promises. Seeds are dealt to child processes in
// portions, so that a slow world holds up nobody; a child that says nothing for a minute is stuck in one of its worlds.
import { type ChildProcess, fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { report } from "./report.ts";
import { type Simulated, simulate } from "./simulation.ts";
import type { Totals, Violation } from "./world.ts";

const help = `Simulates worlds of workers, runs, people and faults, and checks the promises of the runtime in each.

  npm run simulate -- --seeds 100000            so many worlds
  npm run simulate -- --seed 123 --trace        one world, with all that happens in it

  --seeds N     how many worlds (1000)
  --from N      the first seed (1)
  --seed N      only this one
  --trace       prints everything that happens
  --workers N   child processes (as many as there are processors)
  --help        this text`;

/** What one portion of seeds gave. */
type Portion = { readonly count: number; readonly totals: Totals; readonly broken: readonly Simulated[] };

const portionSize = 100;
const longestSilenceMs = 60_000;
const mostReported = 3;

async function simulatePortion(from: number, count: number): Promise<Portion> {
  const totals: Totals = { runs: 0, facts: 0, events: 0, kills: 0, pauses: 0, faults: 0 };
  const broken: Simulated[] = [];
  for (let seed = from; seed < from + count; seed++) {
    const simulated = await simulate(seed);
    const stray = await strayRejection();
    if (simulated.violation) broken.push(simulated);
    else if (stray) broken.push({ ...simulated, violation: { ...stray, trace: [] } });
    for (const name of Object.keys(totals) as (keyof Totals)[]) totals[name] += simulated.totals[name];
  }
  return { count, totals, broken };
}

/** A world leaves the event loop no turn of its own: what it left behind shows in the next one. */
async function strayRejection(): Promise<Violation | undefined> {
  let stray: Violation | undefined;
  const catching = (reason: unknown) => {
    stray = { invariant: "no rejection is left alone: it would end the process", detail: String(reason) };
  };
  process.on("unhandledRejection", catching);
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", catching);
  return stray;
}

function beChild(): void {
  process.on("message", ({ from, count }: { from: number; count: number }) => {
    simulatePortion(from, count).then(
      (portion) => process.send?.(portion),
      (error) => {
        process.stderr.write(`${error}\n`);
        process.exit(2);
      },
    );
  });
}

type Seeds = { readonly from: number; readonly count: number; readonly workers: number };

/** Deals all seeds, and tells what each portion gave. */
function deal({ from, count, workers }: Seeds, add: (portion: Portion) => void): Promise<void> {
  let next = from;
  const end = from + count;
  const serve = () =>
    new Promise<void>((resolve, reject) => {
      const child = fork(import.meta.filename, ["--child"], { execArgv: process.execArgv });
      let alarm: NodeJS.Timeout | undefined;
      const hand = () => {
        clearTimeout(alarm);
        const portion = { from: next, count: Math.min(portionSize, end - next) };
        next += portion.count;
        if (portion.count <= 0) return leave(child, resolve);
        const what = `the seeds ${portion.from} to ${portion.from + portion.count - 1}`;
        alarm = setTimeout(() => {
          child.kill("SIGKILL");
          reject(new Error(`No sign of life from ${what}: one of them never ends.`));
        }, longestSilenceMs);
        child.send(portion);
        child
          .removeAllListeners("exit")
          .on("exit", (code) => reject(new Error(`Ended with ${code} in ${what}.`)));
      };
      child.on("message", (portion: Portion) => {
        add(portion);
        hand();
      });
      hand();
    });
  return Promise.all(Array.from({ length: workers }, serve)).then(() => undefined);
}

function leave(child: ChildProcess, resolve: () => void): void {
  child.removeAllListeners("exit").on("exit", () => resolve());
  child.kill();
}

async function simulateMany(seeds: Seeds): Promise<boolean> {
  const started = performance.now();
  const totals: Totals = { runs: 0, facts: 0, events: 0, kills: 0, pauses: 0, faults: 0 };
  const broken: Simulated[] = [];
  let done = 0;
  let toldAt = started;
  const line = () => {
    const { runs, facts, kills, pauses, faults } = totals;
    const rate = Math.round((1000 * done) / (performance.now() - started));
    return `${done} of ${seeds.count} seeds, ${rate} per second: ${runs} runs, ${facts} facts, ${kills} kills, ${pauses} pauses, ${faults} faults of the store, ${broken.length} broken promises`;
  };
  await deal(seeds, (portion) => {
    done += portion.count;
    for (const name of Object.keys(totals) as (keyof Totals)[]) totals[name] += portion.totals[name];
    for (const one of portion.broken) {
      broken.push(one);
      if (broken.length <= mostReported) print(`\n${report(one)}\n`);
    }
    if (performance.now() - toldAt < 5000) return;
    toldAt = performance.now();
    print(line());
  });
  print(line());
  if (broken.length > mostReported) print(`Broken: ${broken.map(({ seed }) => seed).join(", ")}`);
  return broken.length === 0;
}

async function simulateOne(seed: number, isTraced: boolean): Promise<boolean> {
  const simulated = await simulate(seed, isTraced ? { tell: print } : {});
  const stray = await strayRejection();
  const judged =
    simulated.violation || !stray ? simulated : { ...simulated, violation: { ...stray, trace: [] } };
  print(report(judged));
  return !judged.violation;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function wholeNumber(name: string, text: string | undefined, otherwise: number): number {
  const number = text === undefined ? otherwise : Number(text);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw new Error(`--${name} must be a whole number, not "${text}".`);
}

async function main(): Promise<boolean> {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  const { values } = parseArgs({
    options: { seeds: text, from: text, seed: text, workers: text, trace: flag, help: flag },
  });
  if (values.help) {
    print(help);
    return true;
  }
  if (values.seed !== undefined)
    return simulateOne(wholeNumber("seed", values.seed, 1), values.trace ?? false);
  return simulateMany({
    from: wholeNumber("from", values.from, 1),
    count: wholeNumber("seeds", values.seeds, 1000),
    workers: Math.max(1, wholeNumber("workers", values.workers, availableParallelism())),
  });
}

if (process.argv.includes("--child")) beChild();
else
  main().then(
    // Killed workers leave real timers behind, which nobody waits for.
    (isWell) => process.exit(isWell ? 0 : 1),
    (error) => {
      process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
      process.exit(2);
    },
  );
