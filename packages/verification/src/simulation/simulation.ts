import type { Model, Store } from "capstan";
import { type AuditedStore, createAuditedStore } from "./audited-store.ts";
import { createExecutionLog, type ExecutionLog } from "./execution-log.ts";
import { createFleet, type FaultRates } from "./fleet.ts";
import { checkMemories } from "./memory-audit.ts";
import { type PlannedRun, planRuns, planSchedules } from "./plan.ts";
import { planOutages } from "./provider.ts";
import { createRandom, type Random } from "./random.ts";
import { createReader, type Reader } from "./readers.ts";
import { withSeededGlobals } from "./seeded-globals.ts";
import { createSimulatedUsers, type SimulatedUsers } from "./simulated-users.ts";
import { createWorld, type Totals, type Violation, type World } from "./world.ts";

export type SimulationOptions = {
  /** Receives every line of the trace. */
  onLine?(line: string): void;
  /** Breaks the shared store, or each worker's view of it, to show that the simulation can fail. */
  readonly mutateStore?: (store: Store) => Store;
  readonly mutateWorkerStore?: (store: Store) => Store;
  readonly mutateModel?: (model: Model) => Model;
  readonly ignoresVersions?: boolean;
};

/** Result of one simulation. */
export type SimulationResult = {
  readonly seed: number;
  readonly totals: Totals;
  readonly violation?: Violation & { readonly trace: readonly string[] };
};

/** Schedules have numbers of their own, so that worlds without any stay what they were. */
const scheduleSeed = 1_000_000_000;

/** Virtual time in which a healthy worker must end all runs once the faults have stopped. */
const calmTimeoutMs = 300_000;

/** Simulates the world of a seed and checks the invariants. The same seed gives the same trace. */
export async function simulate(seed: number, options: SimulationOptions = {}): Promise<SimulationResult> {
  const random = createRandom(seed);
  const world = createWorld({ random, seed, ...(options.onLine && { onLine: options.onLine }) });
  await withSeededGlobals(world, () => runWorld(world, { ...options, hasMemories: hasMemories(seed) }));
  const { violation, totals } = world;
  totals.events = world.scheduler.fired;
  return { seed, totals, ...(violation && { violation: { ...violation, trace: world.trace() } }) };
}

/** One world in four, chosen without a random number: the others are as they would be without memories. */
const hasMemories = (seed: number): boolean => seed % 4 === 3;

type WorldOptions = SimulationOptions & { readonly hasMemories: boolean };

async function runWorld(world: World, options: WorldOptions): Promise<void> {
  const { mutateStore, mutateWorkerStore, mutateModel, ignoresVersions = false } = options;
  const { random, scheduler } = world;
  const runs = planSchedules(createRandom(world.seed + scheduleSeed), planRuns(random));
  world.hasExactClocks = runs.some(({ scheduleId }) => scheduleId !== undefined);
  const outages = planOutages(random);
  const audited = createAuditedStore(world, { runs, mutateStore, ignoresVersions });
  const executionLog = createExecutionLog(world, audited);
  world.totals.runs = runs.length;
  const fleet = createFleet(
    {
      world,
      audited,
      runs,
      executionLog,
      attempts: new Map(),
      outages,
      mutateModel,
      hasMemories: options.hasMemories,
    },
    chooseFaultRates(random),
    mutateWorkerStore,
  );
  const users = createSimulatedUsers({ world, fleet, audited });
  const readers = Array.from({ length: random.below(3) }, () => {
    const run = random.pick(runs);
    // The id of a scheduled run is not known before it starts.
    const isSessionReader = random.chance(0.3) || run.scheduleId !== undefined;
    return createReader(world, fleet, { audited, run, isSessionReader });
  });
  for (let count = random.between(1, 3); count > 0; count--) fleet.start();
  scheduleUsers(world, users, runs);
  if (random.chance(0.15)) scheduler.after(random.below(2000), () => audited.jumpClock(3_600_000));

  const haveAllEnded = () => runs.every(users.isFinished);
  const isOver = () =>
    world.violation !== undefined || (haveAllEnded() && readers.every((reader) => reader.isComplete()));
  await scheduler.run(isOver, random.between(1000, 5000));
  if (isOver()) return checkEnd(world, { audited, executionLog, readers });
  fleet.stopFaults();
  await scheduler.run(isOver, scheduler.now() + calmTimeoutMs);
  if (world.violation) return;
  for (const run of runs)
    if (!users.isFinished(run)) world.reportViolation("no run is lost or stuck", run.runId);
  await checkEnd(world, { audited, executionLog, readers });
}

type FinalChecks = {
  readonly audited: AuditedStore;
  readonly executionLog: ExecutionLog;
  readonly readers: readonly Reader[];
};

async function checkEnd(world: World, { audited, executionLog, readers }: FinalChecks): Promise<void> {
  if (world.violation) return;
  executionLog.compareWithFacts();
  for (const reader of readers) reader.assertComplete();
  await checkMemories(world, audited);
}

/** Schedules the users' actions. */
function scheduleUsers(
  { random, scheduler }: World,
  users: SimulatedUsers,
  runs: readonly PlannedRun[],
): void {
  const messagesPerRun = random.chance(0.6) ? random.below(4) : 0;
  for (const run of runs) {
    scheduler.after(run.startAtMs, () => users.start(run));
    users.answerPendingCalls(run);
    if (run.isRetried) users.retryFailures(run);
    for (let count = 0; count < messagesPerRun; count++)
      scheduler.after(run.startAtMs + random.below(random.pick([200, 1500])), () =>
        users.sendRandomMessages(run),
      );
  }
}

/** Draws the fault rates of a world. */
function chooseFaultRates(random: Random): FaultRates {
  return {
    storeFaults: {
      failureRate: random.pick([0, 0, 0.01, 0.05]),
      slowRate: random.pick([0, 0.02, 0.1]),
      maxLatencyMs: random.pick([100, 1500, 3000]),
    },
    kills: random.pick([0, 0.003, 0.01, 0.03]),
    pauses: random.pick([0, 0, 0.005, 0.02]),
    maxPauseMs: random.pick([500, 4000]),
    closes: random.pick([0, 0, 0.005, 0.02]),
    versions: random.pick([[1], [1], [1], [1], [1, 2]]),
  };
}

const maxReportLines = 30;

/** Formats the result of a simulation: the violated invariant and the end of the trace. */
export function formatReport({ seed, violation }: SimulationResult): string {
  if (!violation) return `Seed ${seed} violates no invariant.`;
  return [
    `Seed ${seed} violates an invariant: ${violation.invariant}`,
    `  ${violation.detail}`,
    "",
    ...violation.trace.slice(-maxReportLines),
    "",
    `For the full trace: npm run simulate -- --seed ${seed} --trace`,
  ].join("\n");
}
