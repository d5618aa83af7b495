import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Fact } from "../event.ts";
import type { Store } from "../store.ts";
import { pointNames } from "./breakpoints.ts";
import { readCanary } from "./canary.ts";
import type { PlannedCalls, ToolName } from "./planned-agent.ts";
import { openStore, type StoreAddress } from "./shared-store.ts";
import { startWorker, type Worker } from "./start-worker.ts";
import { judge, type Verdict } from "./verdict.ts";
import type { WorkerNews, WorkerOrder } from "./worker.ts";

export type TrialOptions = {
  readonly store: StoreAddress;
  /** For the canary file. */
  readonly folder: string;
  readonly kills: number;
  onKill?(kills: number): void;
};

export type TrialReport = Verdict & {
  /** By what ended the process: a signal at a random instant, or itself at a named point. */
  readonly kills: { readonly [by: string]: number };
  /** Runs that a worker said were stored. */
  readonly acknowledged: number;
};

const leaseMs = 400;
/** Runs that are kept going. */
const mostOpen = 8;
const lookMs = 60;
const patienceMs = 60_000;

type Trial = {
  readonly options: TrialOptions;
  readonly store: Store;
  readonly workers: Worker[];
  readonly problems: string[];
  readonly kills: Map<string, number>;
  readonly acknowledged: Set<string>;
  /** Stored and not ended yet, as far as it is known. */
  readonly open: Set<string>;
  asked: number;
};

/** Two workers on one store: one of them is killed again and again, and in the end every run must be whole. */
export async function killTrial(options: TrialOptions): Promise<TrialReport> {
  mkdirSync(options.folder, { recursive: true });
  const trial: Trial = {
    options,
    store: openStore(options.store),
    workers: [],
    problems: [],
    kills: new Map(),
    acknowledged: new Set(),
    open: new Set(),
    asked: 0,
  };
  await warmUp(trial);
  trial.workers.push(startOne(trial), startOne(trial));
  const isOver = { value: false };
  const looking = lookAfter(trial, isOver);
  try {
    for (let kill = 1; kill <= options.kills; kill++) {
      await killOne(trial);
      options.onKill?.(kill);
    }
    await settle(trial);
  } finally {
    isOver.value = true;
    await looking;
    await dismiss(trial);
  }
  const report = await judged(trial);
  await trial.store.close();
  return report;
}

/** What Node compiles is kept when a process leaves in peace; then the others start faster. */
async function warmUp(trial: Trial): Promise<void> {
  const worker = startOne(trial, false);
  await worker.ready;
  worker.signal("SIGTERM");
  await worker.ended;
}

function startOne(trial: Trial, mayBreak = true): Worker {
  const { store, folder } = trial.options;
  const order: WorkerOrder = {
    store,
    canary: join(folder, "canary.jsonl"),
    leaseMs,
    ...(mayBreak &&
      Math.random() < 0.4 && {
        breakpoint: { point: oneOf(pointNames), count: 1 + below(25), signal: "SIGKILL" },
      }),
  };
  return startWorker(order, (news) => hear(trial, news));
}

function hear(trial: Trial, news: WorkerNews): void {
  if (news.type !== "stored") return;
  trial.acknowledged.add(news.runId);
  trial.open.add(news.runId);
}

async function killOne(trial: Trial): Promise<void> {
  const place = below(trial.workers.length);
  const victim = trial.workers[place];
  if (!victim) return;
  // Now and then before it has come to anything.
  if (Math.random() < 0.9) await victim.ready;
  const { breakpoint } = victim.order;
  const by = await Promise.race([
    victim.ended.then(() => breakpoint?.point ?? "itself"),
    pause(breakpoint ? 1_500 : below(300), "a random instant", { ref: false }),
  ]);
  victim.signal("SIGKILL");
  const { code, signal, errors } = await victim.ended;
  if (signal !== "SIGKILL" || by === "itself")
    trial.problems.push(`A worker ended by itself (${code ?? signal}): ${errors}`);
  trial.kills.set(by, (trial.kills.get(by) ?? 0) + 1);
  trial.workers[place] = startOne(trial);
}

/** Keeps runs going, and says yes to those that ask. */
async function lookAfter(trial: Trial, isOver: { readonly value: boolean }): Promise<void> {
  while (!isOver.value) {
    try {
      for (const runId of trial.open) await lookAt(trial, runId);
    } catch (error) {
      trial.problems.push(`The store cannot be used: ${error}`);
    }
    topUp(trial);
    await pause(lookMs);
  }
}

async function lookAt(trial: Trial, runId: string): Promise<void> {
  const { store, open } = trial;
  const [info] = await store.listRuns(runId);
  if (info?.state === "ended") open.delete(runId);
  if (info?.state !== "waiting") return;
  const waiting = (await store.read(runId)).findLast((fact) => fact.type === "waiting");
  for (const callId of waiting?.callIds ?? [])
    await store.sendMessage(runId, { key: `yes ${callId}`, type: "approve", callId });
}

function topUp(trial: Trial): void {
  const { workers, options, kills, open } = trial;
  const killed = [...kills.values()].reduce((sum, kill) => sum + kill, 0);
  if (killed >= options.kills) return;
  for (let count = open.size; count < mostOpen; count++) {
    const worker = oneOf(workers);
    if (!worker.isReady()) continue;
    trial.asked += 1;
    worker.start({ runId: `run_${trial.asked}`, plan: newPlan() });
  }
}

const some: readonly ToolName[] = ["look", "slow_look", "charge", "slow_charge", "pay", "slow_pay"];

function newPlan(): PlannedCalls {
  const turns = Array.from({ length: 1 + below(3) }, () =>
    Array.from({ length: 1 + below(3) }, () => oneOf(some)),
  );
  return Math.random() < 0.2 ? [...turns, ["sign"]] : turns;
}

/** Waits until all runs in the store have ended; those that do not are found in their logs. */
async function settle(trial: Trial): Promise<void> {
  // A worker may still be on its way to its breakpoint.
  for (const [place, worker] of trial.workers.entries()) {
    if (!worker.order.breakpoint) continue;
    worker.signal("SIGKILL");
    await worker.ended;
    trial.workers[place] = startOne(trial, false);
  }
  const deadline = performance.now() + patienceMs;
  while (performance.now() < deadline) {
    for (const { id } of await trial.store.list()) {
      const [info] = await trial.store.listRuns(id);
      if (info && info.state !== "ended") trial.open.add(id);
    }
    if (trial.open.size === 0) return;
    await pause(lookMs);
  }
}

async function dismiss(trial: Trial): Promise<void> {
  for (const worker of trial.workers) {
    await worker.ready;
    worker.signal("SIGTERM");
    const late = await Promise.race([worker.ended.then(() => false), pause(20_000, true, { ref: false })]);
    if (late) worker.signal("SIGKILL");
    const { code, signal, errors } = await worker.ended;
    if (code !== 0) trial.problems.push(`A worker did not leave in peace (${code ?? signal}): ${errors}`);
  }
}

async function judged({ store, options, problems, kills, acknowledged }: Trial): Promise<TrialReport> {
  const sessions = new Map<string, readonly Fact[]>();
  for (const { id } of await store.list()) sessions.set(id, await store.read(id));
  const lost = [...acknowledged].filter((runId) => !sessions.has(runId));
  const verdict = judge(sessions, readCanary(join(options.folder, "canary.jsonl")));
  return {
    ...verdict,
    problems: [...problems, ...lost.map((runId) => `${runId}: lost`), ...verdict.problems],
    kills: Object.fromEntries(kills),
    acknowledged: acknowledged.size,
  };
}

const below = (limit: number): number => Math.floor(Math.random() * limit);

function oneOf<Item>(items: readonly Item[]): Item {
  const item = items[below(items.length)];
  if (item === undefined) throw new Error("There is nothing to choose from.");
  return item;
}
