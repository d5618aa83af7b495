import type { Store } from "../store.ts";
import { auditedStore } from "./audited-store.ts";
import { type Chance, chanceFrom } from "./chance.ts";
import { type Deeds, newDeeds } from "./deeds.ts";
import { type Dangers, newFleet } from "./fleet.ts";
import { newPeople, type People } from "./people.ts";
import { type PlannedRun, planRuns } from "./plan.ts";
import { newReader, type Reader } from "./readers.ts";
import { withSeededGlobals } from "./seeded-globals.ts";
import { newWorld, type Totals, type Violation, type World } from "./world.ts";

export type SimulationOptions = {
  /** Hears of everything that happens. */
  tell?(line: string): void;
  /** Damages the shared store, or the way each worker sees it: to prove that the simulation can fail. */
  readonly breakStore?: (store: Store) => Store;
  readonly breakView?: (store: Store) => Store;
};

/** What became of one world. */
export type Simulated = {
  readonly seed: number;
  readonly totals: Totals;
  readonly violation?: Violation & { readonly trace: readonly string[] };
};

/** How long a healthy process may take to end all runs, once nothing fails any more. */
const patienceMs = 120_000;

/** Makes the world of a seed, lets it happen, and holds it against the promises. The same seed is the same world. */
export async function simulate(seed: number, options: SimulationOptions = {}): Promise<Simulated> {
  const chance = chanceFrom(seed);
  const world = newWorld({ chance, ...(options.tell && { tell: options.tell }) });
  await withSeededGlobals(world, () => live(world, options));
  const { violation, totals } = world;
  totals.events = world.scheduler.fired;
  return { seed, totals, ...(violation && { violation: { ...violation, trace: world.trace() } }) };
}

async function live(world: World, { breakStore, breakView }: SimulationOptions): Promise<void> {
  const { chance, scheduler } = world;
  const audited = auditedStore(world, breakStore);
  const deeds = newDeeds(world, audited);
  const runs = planRuns(chance);
  world.totals.runs = runs.length;
  const fleet = newFleet({ world, audited, runs, deeds, asked: new Map() }, dangersOf(chance), breakView);
  const people = newPeople({ world, fleet, audited });
  const readers = Array.from({ length: chance.below(3) }, () =>
    newReader(world, fleet, { audited, run: chance.pick(runs), ofSession: chance.is(0.3) }),
  );
  for (let count = chance.between(1, 3); count > 0; count--) fleet.start();
  invite(world, people, runs);
  if (chance.is(0.15)) scheduler.after(chance.below(2000), () => audited.jump(3_600_000));

  const areEnded = () => runs.every(({ runId }) => audited.facts.runs.get(runId)?.done);
  const isOver = () =>
    world.violation !== undefined || (areEnded() && readers.every((reader) => reader.isComplete()));
  await scheduler.run(isOver, chance.between(1000, 5000));
  if (isOver()) return finish(world, { deeds, readers });
  fleet.calm();
  await scheduler.run(isOver, scheduler.now() + patienceMs);
  if (world.violation) return;
  for (const { runId } of runs)
    if (!audited.facts.runs.get(runId)?.done) world.violate("no run is lost, none is stuck", runId);
  finish(world, { deeds, readers });
}

type Finish = {
  readonly deeds: Deeds;
  readonly readers: readonly Reader[];
};

function finish(world: World, { deeds, readers }: Finish): void {
  if (world.violation) return;
  deeds.compare();
  for (const reader of readers) reader.compare();
}

/** Who does what, and when. */
function invite({ chance, scheduler }: World, people: People, runs: readonly PlannedRun[]): void {
  const meddlers = chance.is(0.6) ? chance.below(4) : 0;
  for (const run of runs) {
    scheduler.after(run.startAtMs, () => people.start(run));
    people.attend(run);
    for (let count = 0; count < meddlers; count++)
      scheduler.after(run.startAtMs + chance.below(chance.pick([200, 1500])), () => people.meddle(run));
  }
}

/** Some worlds are kind, some are not. */
function dangersOf(chance: Chance): Dangers {
  return {
    weather: {
      faults: chance.pick([0, 0, 0.01, 0.05]),
      slow: chance.pick([0, 0.02, 0.1]),
      longestMs: chance.pick([100, 1500, 3000]),
    },
    kills: chance.pick([0, 0.003, 0.01, 0.03]),
    pauses: chance.pick([0, 0, 0.005, 0.02]),
    longestPauseMs: chance.pick([500, 4000]),
  };
}
