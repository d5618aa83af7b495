import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Agent, type Fact, isFact, type Store } from "capstan";
import type { LocalEngine } from "capstan/engines/local";
import { subscribe } from "capstan/sessions";
import { createRandom, type Random } from "../simulation/random.ts";
import { pointNames } from "./breakpoints.ts";
import { checkTrial, type TrialCheck } from "./check-trial.ts";
import { createCrashAgent } from "./crash-agent.ts";
import { readTrace } from "./execution-trace.ts";
import { createRandomPlan } from "./kill-trial.ts";
import { openSharedStore, type StoreAddress } from "./open-shared-store.ts";
import type { WorkerOptions } from "./run-engine-worker.ts";
import { startWorker, type WorkerProcess } from "./start-worker.ts";

export type EngineTrialOptions = {
  readonly store: StoreAddress;
  /** Folder of the trace file. */
  readonly folder: string;
  readonly workers: number;
  readonly kills: number;
  /** The share of workers that are killed at a breakpoint, in the middle of a run; the others at a random instant. */
  readonly breakpoints: number;
  readonly leaseMs: number;
  /** The program of the workers: it calls `runEngineWorker`. */
  readonly program: NonNullable<WorkerOptions["program"]>;
  /** Opens an engine that executes nothing: it enqueues, sends and reads. */
  openClient(options: { readonly store: Store; readonly agents: Agent }): LocalEngine;
  /** Happens halfway, such as the restart of a server. */
  disturb?(): Promise<void>;
  /** Chooses what the runs do, and what is killed when. The processes themselves are never the same twice. */
  readonly seed?: number;
};

export type EngineTrialReport = TrialCheck & {
  readonly seed: number;
  /** Runs whose `enqueue` has resolved. */
  readonly enqueued: number;
  /** Facts that readers in this process received. */
  readonly read: number;
  readonly seconds: number;
};

type Trial = {
  readonly options: EngineTrialOptions;
  readonly random: Random;
  readonly store: Store;
  readonly agent: Agent;
  readonly client: LocalEngine;
  readonly workers: WorkerProcess[];
  readonly problems: string[];
  /** The numbers of the facts that each run's reader has received. */
  readonly readers: Map<string, Promise<readonly number[]>>;
  readonly open: Set<string>;
};

const maxOpenRuns = 8;
const maxPauseMs = 600;
const maxBreakpointMs = 5_000;
const settleTimeoutMs = 120_000;

/** Kills workers of an engine while runs are enqueued, approved and read. In the end every run must be complete. */
export async function runEngineTrial(options: EngineTrialOptions): Promise<EngineTrialReport> {
  mkdirSync(options.folder, { recursive: true });
  const { seed = Math.floor(Math.random() * 1_000_000) } = options;
  const startedAt = performance.now();
  const trial = openTrial(options, createRandom(seed));
  const isOver = { value: false };
  const enqueuing = enqueueRuns(trial, isOver);
  try {
    for (let kill = 0; kill < options.kills; kill++) {
      if (kill === Math.floor(options.kills / 2)) await options.disturb?.();
      await killWorker(trial);
    }
    isOver.value = true;
    await enqueuing;
    await removeBreakpoints(trial);
    await waitForReaders(trial);
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    return { ...(await buildReport(trial)), seed, seconds };
  } finally {
    isOver.value = true;
    await enqueuing;
    await closeTrial(trial);
  }
}

function openTrial(options: EngineTrialOptions, random: Random): Trial {
  const store = openSharedStore(options.store);
  const agent = createCrashAgent({
    trace: { write: () => undefined, close: () => undefined },
    reach: () => undefined,
  });
  const client = options.openClient({ store, agents: agent });
  const trial: Trial = {
    ...{ options, random, store, agent, client, workers: [], problems: [] },
    ...{ readers: new Map(), open: new Set() },
  };
  for (let count = 0; count < options.workers; count++) trial.workers.push(addWorker(trial));
  return trial;
}

function addWorker({ options, random, problems }: Trial, mayBreak = true): WorkerProcess {
  const { store, folder, leaseMs, program } = options;
  const breakpoint = {
    point: random.pick(pointNames),
    count: random.between(1, 10),
    signal: "SIGKILL",
  } as const;
  const worker = startWorker({
    ...{ store, leaseMs, program, traceFile: join(folder, "trace.jsonl") },
    ...(mayBreak && random.chance(options.breakpoints) && { breakpoint }),
  });
  void worker.ended.then(({ code, signal, errors }) => {
    if (signal !== "SIGKILL" && code !== 0) problems.push(`A worker ended (${code ?? signal}): ${errors}`);
  });
  return worker;
}

async function killWorker(trial: Trial): Promise<void> {
  const { random, workers } = trial;
  const index = random.below(workers.length);
  const victim = workers[index];
  if (!victim) return;
  // Sometimes kill a worker before it is ready.
  if (random.chance(0.9)) await victim.ready;
  const waitMs = victim.options.breakpoint ? maxBreakpointMs : random.below(maxPauseMs);
  await Promise.race([victim.ended, pause(waitMs, undefined, { ref: false })]);
  await replaceWorker(trial, victim);
}

/** A worker may not have reached its breakpoint yet. */
async function removeBreakpoints(trial: Trial): Promise<void> {
  for (const worker of [...trial.workers])
    if (worker.options.breakpoint) await replaceWorker(trial, worker, false);
}

async function replaceWorker(trial: Trial, worker: WorkerProcess, mayBreak = true): Promise<void> {
  worker.signal("SIGKILL");
  await worker.ended;
  trial.workers.splice(trial.workers.indexOf(worker), 1, addWorker(trial, mayBreak));
}

async function enqueueRuns(trial: Trial, isOver: { readonly value: boolean }): Promise<void> {
  const { agent, client, open, readers, random } = trial;
  for (let number = 1; !isOver.value; number++) {
    while (open.size >= maxOpenRuns && !isOver.value) await pause(20);
    if (isOver.value) return;
    const runId = `run_${number}`;
    const input = JSON.stringify(createRandomPlan(random));
    await retryDuringOutage(trial, () => client.enqueue(agent, input, { runId, session: runId }));
    open.add(runId);
    const reader = retryDuringOutage(trial, () => readTrialRun(trial, runId));
    readers.set(
      runId,
      reader.finally(() => open.delete(runId)),
    );
  }
}

/** Without a disturbance, nothing may fail. */
async function retryDuringOutage<Value>(trial: Trial, attempt: () => Promise<Value>): Promise<Value> {
  const deadline = performance.now() + settleTimeoutMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!trial.options.disturb || performance.now() > deadline) throw error;
      await pause(100);
    }
  }
}

/** Reads the facts of a run as they come, approves what it asks for, and returns the numbers of the facts. */
async function readTrialRun(trial: Trial, runId: string): Promise<readonly number[]> {
  const numbers: number[] = [];
  const approvals: Promise<void>[] = [];
  for await (const event of subscribe(trial.store, { runId })) {
    if (!isFact(event)) continue;
    numbers.push(event.seq);
    if (event.type !== "waiting") continue;
    for (const callId of event.callIds ?? []) approvals.push(approve(trial, runId, callId));
  }
  await Promise.all(approvals);
  return numbers;
}

async function approve(trial: Trial, runId: string, callId: string): Promise<void> {
  await pause(trial.random.below(maxPauseMs)); // workers are killed while the run waits
  const message = { key: `yes ${callId}`, type: "approve", callId } as const;
  await retryDuringOutage(trial, () => trial.client.send(runId, message));
}

async function waitForReaders({ readers, open, problems }: Trial): Promise<void> {
  const all = Promise.allSettled(readers.values());
  const late = await Promise.race([all.then(() => false), pause(settleTimeoutMs, true, { ref: false })]);
  if (late) problems.push(`These runs did not end: ${[...open].join(", ")}`);
}

async function buildReport(trial: Trial): Promise<TrialCheck & Pick<EngineTrialReport, "enqueued" | "read">> {
  const { store, options, problems, readers, open } = trial;
  const sessions = new Map<string, readonly Fact[]>();
  for (const { id } of await store.list()) sessions.set(id, await store.read(id));
  const check = checkTrial(sessions, readTrace(join(options.folder, "trace.jsonl")));
  let read = 0;
  for (const [runId, reader] of readers) {
    const facts = sessions.get(runId);
    if (!facts) problems.push(`${runId}: lost`);
    if (open.has(runId)) continue;
    const numbers = await reader.catch(
      (error) => void problems.push(`The reader of ${runId} failed: ${error}`),
    );
    read += numbers?.length ?? 0;
    if (numbers && facts && numbers.join() !== facts.map(({ seq }) => seq).join())
      problems.push(`The reader of ${runId} received the facts ${numbers} of ${facts.length}`);
  }
  return { ...check, problems: [...problems, ...check.problems], enqueued: readers.size, read };
}

async function closeTrial({ workers, client, store }: Trial): Promise<void> {
  for (const worker of workers) worker.signal("SIGKILL");
  await Promise.all(workers.map((worker) => worker.ended));
  await client.close();
  await store.close();
}
