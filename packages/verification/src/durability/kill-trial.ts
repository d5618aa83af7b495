import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Fact, Store } from "capstan";
import { createRandom, type Random } from "../simulation/random.ts";
import { pointNames } from "./breakpoints.ts";
import { checkTrial, type TrialCheck } from "./check-trial.ts";
import type { PlannedCall, PlannedCalls } from "./crash-agent.ts";
import { readTrace } from "./execution-trace.ts";
import { openSharedStore, type StoreAddress } from "./open-shared-store.ts";
import type { WorkerOptions, WorkerReport } from "./run-engine-worker.ts";
import { startWorker, type WorkerProcess } from "./start-worker.ts";

export type TrialOptions = {
  readonly store: StoreAddress;
  /** Folder of the trace file. */
  readonly folder: string;
  readonly kills: number;
  /** Chooses what the runs do, and which worker is killed when. The processes themselves are never the same twice. */
  readonly seed?: number | undefined;
  onKill?(kills: number): void;
};

export type TrialReport = TrialCheck & {
  readonly seed: number;
  /** Kills by cause: a signal at a random instant, or a breakpoint. */
  readonly kills: { readonly [by: string]: number };
  /** Runs that a worker reported as stored. */
  readonly acknowledged: number;
};

const leaseMs = 400;
/** Runs in progress at any time. */
const maxOpenRuns = 8;
const pollMs = 60;
const settleTimeoutMs = 60_000;

type Trial = {
  readonly options: TrialOptions;
  readonly seed: number;
  readonly random: Random;
  readonly store: Store;
  readonly workers: WorkerProcess[];
  readonly problems: string[];
  readonly kills: Map<string, number>;
  readonly acknowledged: Set<string>;
  /** Runs that are stored and not known to have ended. */
  readonly open: Set<string>;
  asked: number;
};

/** Runs two workers on one store and kills them repeatedly. In the end every run must be complete. */
export async function runKillTrial(options: TrialOptions): Promise<TrialReport> {
  mkdirSync(options.folder, { recursive: true });
  const { seed = Math.floor(Math.random() * 1_000_000) } = options;
  const trial: Trial = {
    options,
    seed,
    random: createRandom(seed),
    store: openSharedStore(options.store),
    workers: [],
    problems: [],
    kills: new Map(),
    acknowledged: new Set(),
    open: new Set(),
    asked: 0,
  };
  await warmUp(trial);
  trial.workers.push(startTrialWorker(trial), startTrialWorker(trial));
  const isOver = { value: false };
  const supervision = superviseRuns(trial, isOver);
  try {
    for (let kill = 1; kill <= options.kills; kill++) {
      await killRandomWorker(trial);
      options.onKill?.(kill);
    }
    await waitForRuns(trial);
  } finally {
    isOver.value = true;
    await supervision;
    await stopWorkers(trial);
  }
  const report = await buildReport(trial);
  await trial.store.close();
  return report;
}

/** Node writes its compile cache only on a clean exit; with it, later processes start faster. */
async function warmUp(trial: Trial): Promise<void> {
  const worker = startTrialWorker(trial, false);
  await worker.ready;
  worker.signal("SIGTERM");
  await worker.ended;
}

function startTrialWorker(trial: Trial, mayBreak = true): WorkerProcess {
  const { random } = trial;
  const { store, folder } = trial.options;
  const options: WorkerOptions = {
    store,
    traceFile: join(folder, "trace.jsonl"),
    leaseMs,
    ...(mayBreak &&
      random.chance(0.4) && {
        breakpoint: { point: random.pick(pointNames), count: random.between(1, 25), signal: "SIGKILL" },
      }),
  };
  return startWorker(options, (report) => onWorkerReport(trial, report));
}

function onWorkerReport(trial: Trial, report: WorkerReport): void {
  if (report.type !== "stored") return;
  trial.acknowledged.add(report.runId);
  trial.open.add(report.runId);
}

async function killRandomWorker(trial: Trial): Promise<void> {
  const { random } = trial;
  const index = random.below(trial.workers.length);
  const victim = trial.workers[index];
  if (!victim) return;
  // Sometimes kill a worker before it is ready.
  if (random.chance(0.9)) await victim.ready;
  const { breakpoint } = victim.options;
  const by = await Promise.race([
    victim.ended.then(() => breakpoint?.point ?? "itself"),
    pause(breakpoint ? 1_500 : random.below(300), "a random instant", { ref: false }),
  ]);
  victim.signal("SIGKILL");
  const { code, signal, errors } = await victim.ended;
  if (signal !== "SIGKILL" || by === "itself")
    trial.problems.push(`A worker exited on its own (${code ?? signal}): ${errors}`);
  trial.kills.set(by, (trial.kills.get(by) ?? 0) + 1);
  trial.workers[index] = startTrialWorker(trial);
}

/** Starts new runs and approves pending calls. */
async function superviseRuns(trial: Trial, isOver: { readonly value: boolean }): Promise<void> {
  while (!isOver.value) {
    try {
      for (const runId of trial.open) await checkRun(trial, runId);
    } catch (error) {
      trial.problems.push(`The store failed: ${error}`);
    }
    startMissingRuns(trial);
    await pause(pollMs);
  }
}

async function checkRun(trial: Trial, runId: string): Promise<void> {
  const { store, open } = trial;
  const [info] = await store.listRuns(runId);
  if (info?.state === "ended") open.delete(runId);
  if (info?.state !== "waiting") return;
  const waiting = (await store.read(runId)).findLast((fact) => fact.type === "waiting");
  for (const callId of waiting?.callIds ?? [])
    await store.sendMessage(runId, { key: `yes ${callId}`, type: "approve", callId });
}

function startMissingRuns(trial: Trial): void {
  const { workers, options, kills, open, random } = trial;
  const killed = [...kills.values()].reduce((sum, kill) => sum + kill, 0);
  if (killed >= options.kills) return;
  for (let count = open.size; count < maxOpenRuns; count++) {
    const worker = random.pick(workers);
    if (!worker.isReady()) continue;
    trial.asked += 1;
    worker.start({ runId: `run_${trial.asked}`, plan: createRandomPlan(random) });
  }
}

const randomCalls: readonly PlannedCall[] = [
  "look",
  "slow_look",
  "charge",
  "slow_charge",
  "pay",
  "slow_pay",
  "helper",
  "background_helper",
];

/** Parallel calls, some of a sub-agent, also in the background; sometimes a handoff, and a call that needs approval in the end. */
export function createRandomPlan(random: Random): PlannedCalls {
  const turns: PlannedCalls = Array.from({ length: random.between(1, 3) }, () =>
    Array.from({ length: random.between(1, 3) }, () => random.pick(randomCalls)),
  );
  const handoff: PlannedCalls = random.chance(0.2) ? [["handoff"]] : [];
  return [
    ...turns.slice(0, 1),
    ...handoff,
    ...turns.slice(1),
    ...(random.chance(0.2) ? [["sign"] as const] : []),
  ];
}

/** Waits until all runs in the store have ended. Runs that do not end are reported from their logs. */
async function waitForRuns(trial: Trial): Promise<void> {
  // A worker may not have reached its breakpoint yet.
  for (const [index, worker] of trial.workers.entries()) {
    if (!worker.options.breakpoint) continue;
    worker.signal("SIGKILL");
    await worker.ended;
    trial.workers[index] = startTrialWorker(trial, false);
  }
  const deadline = performance.now() + settleTimeoutMs;
  while (performance.now() < deadline) {
    for (const { id } of await trial.store.list()) {
      const [info] = await trial.store.listRuns(id);
      if (info && info.state !== "ended") trial.open.add(id);
    }
    if (trial.open.size === 0) return;
    await pause(pollMs);
  }
}

async function stopWorkers(trial: Trial): Promise<void> {
  for (const worker of trial.workers) {
    await worker.ready;
    worker.signal("SIGTERM");
    const late = await Promise.race([worker.ended.then(() => false), pause(20_000, true, { ref: false })]);
    if (late) worker.signal("SIGKILL");
    const { code, signal, errors } = await worker.ended;
    if (code !== 0) trial.problems.push(`A worker did not shut down cleanly (${code ?? signal}): ${errors}`);
  }
}

async function buildReport(trial: Trial): Promise<TrialReport> {
  const { store, options, problems, kills, acknowledged, seed } = trial;
  const sessions = new Map<string, readonly Fact[]>();
  for (const { id } of await store.list()) sessions.set(id, await store.read(id));
  const lost = [...acknowledged].filter((runId) => !sessions.has(runId));
  const check = checkTrial(sessions, readTrace(join(options.folder, "trace.jsonl")));
  return {
    ...check,
    seed,
    problems: [...problems, ...lost.map((runId) => `${runId}: lost`), ...check.problems],
    kills: Object.fromEntries(kills),
    acknowledged: acknowledged.size,
  };
}
