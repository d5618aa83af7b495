// Simulates many seeds and reports violations of an invariant. Batches of seeds are distributed to child processes.
// A child that reports nothing for five minutes is stuck.
import { type ChildProcess, fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { formatReport, type SimulationResult, simulate } from "./simulation.ts";
import { createTotals, type Totals, type Violation } from "./world.ts";

const help = `Simulates workers, runs, users and faults, and checks the invariants of the runtime.

  npm run simulate -- --seeds 100000            simulate 100,000 seeds
  npm run simulate -- --seed 123 --trace        replay one seed with a full trace

  --seeds N     number of seeds (1000)
  --from N      first seed (1)
  --seed N      only this seed
  --trace       print every step
  --workers N   child processes (default: number of processors)
  --help        this text`;

/** Result of a batch of seeds. */
type SeedBatch = {
  readonly count: number;
  readonly totals: Totals;
  readonly broken: readonly SimulationResult[];
};

const batchSize = 100;
const maxSilenceMs = 300_000;
const maxReported = 3;

async function simulateBatch(from: number, count: number): Promise<SeedBatch> {
  const totals = createTotals();
  const broken: SimulationResult[] = [];
  for (let seed = from; seed < from + count; seed++) {
    const simulated = await simulate(seed);
    const stray = await catchUnhandledRejection();
    if (simulated.violation) broken.push(simulated);
    else if (stray) broken.push({ ...simulated, violation: { ...stray, trace: [] } });
    for (const name of Object.keys(totals) as (keyof Totals)[]) totals[name] += simulated.totals[name];
  }
  return { count, totals, broken };
}

/** A simulation never yields to the event loop, so its unhandled rejections surface only afterwards. */
async function catchUnhandledRejection(): Promise<Violation | undefined> {
  let violation: Violation | undefined;
  const onRejection = (reason: unknown) => {
    violation = { invariant: "there are no unhandled rejections", detail: String(reason) };
  };
  process.on("unhandledRejection", onRejection);
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", onRejection);
  return violation;
}

function runAsChild(): void {
  process.on("message", ({ from, count }: { from: number; count: number }) => {
    simulateBatch(from, count).then(
      (portion) => process.send?.(portion),
      (error) => {
        process.stderr.write(`${error}\n`);
        process.exit(2);
      },
    );
  });
}

type SeedRange = { readonly from: number; readonly count: number; readonly workers: number };

/** Distributes the seeds to child processes and reports each batch. */
function distributeSeeds(
  { from, count, workers }: SeedRange,
  add: (portion: SeedBatch) => void,
): Promise<void> {
  let next = from;
  const end = from + count;
  const runChild = () =>
    new Promise<void>((resolve, reject) => {
      const child = fork(import.meta.filename, ["--child"], { execArgv: process.execArgv });
      let alarm: NodeJS.Timeout | undefined;
      const sendNextBatch = () => {
        clearTimeout(alarm);
        const portion = { from: next, count: Math.min(batchSize, end - next) };
        next += portion.count;
        if (portion.count <= 0) return endChild(child, resolve);
        const description = `seeds ${portion.from} to ${portion.from + portion.count - 1}`;
        alarm = setTimeout(() => {
          child.kill("SIGKILL");
          reject(new Error(`No progress on ${description}: one of them does not end.`));
        }, maxSilenceMs);
        child.send(portion);
        child
          .removeAllListeners("exit")
          .on("exit", (code) => reject(new Error(`Exited with ${code} in ${description}.`)));
      };
      child.on("message", (portion: SeedBatch) => {
        add(portion);
        sendNextBatch();
      });
      sendNextBatch();
    });
  return Promise.all(Array.from({ length: workers }, runChild)).then(() => undefined);
}

function endChild(child: ChildProcess, resolve: () => void): void {
  child.removeAllListeners("exit").on("exit", () => resolve());
  child.kill();
}

async function simulateMany(seeds: SeedRange): Promise<boolean> {
  const started = performance.now();
  const totals = createTotals();
  const broken: SimulationResult[] = [];
  let done = 0;
  let reportedAt = started;
  const formatProgress = () => {
    const counts = Object.entries(totals).map(([name, count]) => `${count} ${name}`);
    const rate = Math.round((1000 * done) / (performance.now() - started));
    return `${done} of ${seeds.count} seeds, ${rate} per second: ${counts.join(", ")}, ${broken.length} violations`;
  };
  await distributeSeeds(seeds, (portion) => {
    done += portion.count;
    for (const name of Object.keys(totals) as (keyof Totals)[]) totals[name] += portion.totals[name];
    for (const failure of portion.broken) {
      broken.push(failure);
      if (broken.length <= maxReported) print(`\n${formatReport(failure)}\n`);
    }
    if (performance.now() - reportedAt < 5000) return;
    reportedAt = performance.now();
    print(formatProgress());
  });
  print(formatProgress());
  if (broken.length > maxReported) print(`Broken: ${broken.map(({ seed }) => seed).join(", ")}`);
  return broken.length === 0;
}

async function simulateOne(seed: number, isTraced: boolean): Promise<boolean> {
  const simulated = await simulate(seed, isTraced ? { onLine: print } : {});
  const stray = await catchUnhandledRejection();
  const judged =
    simulated.violation || !stray ? simulated : { ...simulated, violation: { ...stray, trace: [] } };
  print(formatReport(judged));
  return !judged.violation;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function parseCount(name: string, text: string | undefined, otherwise: number): number {
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
    return simulateOne(parseCount("seed", values.seed, 1), values.trace ?? false);
  return simulateMany({
    from: parseCount("from", values.from, 1),
    count: parseCount("seeds", values.seeds, 1000),
    workers: Math.max(1, parseCount("workers", values.workers, availableParallelism())),
  });
}

if (process.argv.includes("--child")) runAsChild();
else
  main().then(
    // Killed workers leave real timers behind.
    (isWell) => process.exit(isWell ? 0 : 1),
    (error) => {
      process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
      process.exit(2);
    },
  );
