import { setTimeout as pause } from "node:timers/promises";
import type { TrialCheck } from "../durability/check-trial.ts";
import { createRandomPlan } from "../durability/kill-trial.ts";
import type { WorkerProcess } from "../durability/start-worker.ts";
import { createRandom, type Random } from "../simulation/random.ts";
import {
  openRestateHarness,
  type RestateHarness,
  type RestateHarnessOptions,
  readRun,
} from "./restate-harness.ts";

export type RestateTrialOptions = RestateHarnessOptions & {
  readonly workers: number;
  readonly workerKills: number;
  /** Kills of a node of the Restate server, in between. */
  readonly serverKills: number;
  /** Chooses what the runs do, and what is killed when. The processes themselves are never the same twice. */
  readonly seed?: number | undefined;
};

export type RestateTrialReport = TrialCheck & {
  readonly seed: number;
  /** Runs whose `enqueue` has resolved. */
  readonly enqueued: number;
  readonly seconds: number;
};

type Trial = {
  readonly options: RestateTrialOptions;
  readonly random: Random;
  readonly harness: RestateHarness;
  readonly workers: WorkerProcess[];
  readonly problems: string[];
  readonly readers: Map<string, ReturnType<typeof readRun>>;
  readonly openRuns: Set<string>;
};

const maxOpenRuns = 8;
const settleTimeoutMs = 120_000;

/** Kills workers and Restate servers while runs are enqueued, approved and read. In the end every run must be complete. */
export async function runRestateTrial(options: RestateTrialOptions): Promise<RestateTrialReport> {
  const { seed = Math.floor(Math.random() * 1_000_000) } = options;
  const harness = await openRestateHarness(options);
  const trial: Trial = {
    ...{ options, random: createRandom(seed), harness, workers: [], problems: [] },
    ...{ readers: new Map(), openRuns: new Set() },
  };
  const isOver = { value: false };
  const startedAt = performance.now();
  try {
    for (let count = 0; count < options.workers; count++) trial.workers.push(harness.addWorker());
    await harness.register();
    const enqueuing = enqueueRuns(trial, isOver);
    for (const target of shuffleKills(trial)) await (target === "worker" ? killWorker : killNode)(trial);
    isOver.value = true;
    await enqueuing;
    await waitForReaders(trial);
    const check = await harness.check();
    const problems = [...trial.problems, ...(await checkReaders(trial)), ...check.problems];
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    return { ...check, problems, seed, enqueued: trial.readers.size, seconds };
  } finally {
    isOver.value = true;
    await harness.close();
  }
}

/** The order of the kills: kills of nodes come between kills of workers. */
function shuffleKills({ options, random }: Trial): readonly ("worker" | "node")[] {
  const targets = [
    ...Array<"worker">(options.workerKills).fill("worker"),
    ...Array<"node">(options.serverKills).fill("node"),
  ];
  return targets
    .map((target) => ({ target, order: random.below(1_000_000) }))
    .sort((left, right) => left.order - right.order)
    .map(({ target }) => target);
}

async function killWorker({ random, workers, harness, problems }: Trial): Promise<void> {
  const index = random.below(workers.length);
  const victim = workers[index];
  if (!victim) return;
  // Sometimes kill a worker before it is ready.
  if (random.chance(0.9)) await victim.ready;
  await pause(random.below(600));
  victim.signal("SIGKILL");
  const { code, signal, errors } = await victim.ended;
  if (signal !== "SIGKILL") problems.push(`A worker exited on its own (${code ?? signal}): ${errors}`);
  workers[index] = harness.addWorker();
}

async function killNode({ random, harness }: Trial): Promise<void> {
  const node = random.pick(harness.server.nodes);
  await pause(random.below(600));
  await node.kill();
  await pause(random.below(600));
  await node.restart();
}

async function enqueueRuns(trial: Trial, isOver: { readonly value: boolean }): Promise<void> {
  const { harness, openRuns, readers, random, problems } = trial;
  const { client, agent } = harness;
  for (let number = 1; !isOver.value; number++) {
    while (openRuns.size >= maxOpenRuns && !isOver.value) await pause(20);
    const runId = `run_${number}`;
    try {
      await client.enqueue(agent, JSON.stringify(createRandomPlan(random)), { runId, session: runId });
    } catch (error) {
      return void problems.push(`${runId} was refused: ${error}`);
    }
    openRuns.add(runId);
    readers.set(
      runId,
      readRun(client, runId).finally(() => openRuns.delete(runId)),
    );
  }
}

async function waitForReaders({ readers, openRuns, problems }: Trial): Promise<void> {
  const all = Promise.allSettled(readers.values());
  const isLate = await Promise.race([all.then(() => false), pause(settleTimeoutMs, true, { ref: false })]);
  if (isLate) problems.push(`These runs did not end: ${[...openRuns].join(", ")}`);
}

/** Every reader gets the facts from the first on, each once and in order; the last one gets all. */
async function checkReaders({ harness, readers, openRuns }: Trial): Promise<string[]> {
  const problems: string[] = [];
  for (const [runId, reader] of readers) {
    if (openRuns.has(runId)) continue;
    const { length } = await harness.store.read(runId);
    if (length === 0) problems.push(`${runId}: lost`);
    const read = await reader.catch((error) => void problems.push(`The reader of ${runId} failed: ${error}`));
    for (const numbers of read ?? [])
      if (numbers.some((number, index) => number !== index + 1))
        problems.push(`A reader of ${runId} received the facts ${numbers}`);
    if (read && read.at(-1)?.length !== length)
      problems.push(`The last reader of ${runId} received ${read.at(-1)?.length} of ${length} facts`);
  }
  return problems;
}
