import type { Random } from "./random.ts";
import { createScheduler, type Scheduler } from "./scheduler.ts";

/** An invariant that was violated. */
export type Violation = { readonly invariant: string; readonly detail: string };

/** Event counts of a world. */
export type Totals = {
  runs: number;
  facts: number;
  events: number;
  kills: number;
  pauses: number;
  faults: number;
  snapshots: number;
  /** Workers that started, and workers that shut down gracefully. */
  processes: number;
  closes: number;
  /** Requests that failed in an outage, and runs that suspended because of one. */
  outages: number;
  suspensions: number;
  retries: number;
  compactions: number;
  continuations: number;
  questions: number;
  /** Approvals with other arguments than the model's. */
  edits: number;
  /** Suspects that executed alone after a crash. */
  trials: number;
  /** Reads of facts that a newer version stored. */
  newerFacts: number;
  /** Runs that a schedule has started. */
  schedules: number;
};

export function createTotals(): Totals {
  return {
    runs: 0,
    facts: 0,
    events: 0,
    kills: 0,
    pauses: 0,
    faults: 0,
    snapshots: 0,
    processes: 0,
    closes: 0,
    outages: 0,
    suspensions: 0,
    retries: 0,
    compactions: 0,
    continuations: 0,
    questions: 0,
    edits: 0,
    trials: 0,
    newerFacts: 0,
    schedules: 0,
  };
}

/** State shared by all parts of a world. */
export interface World {
  readonly seed: number;
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly totals: Totals;
  /** True once the faults have stopped. */
  isCalm: boolean;
  /** True in a world with schedules, whose times would otherwise be hours away for some workers. */
  hasExactClocks: boolean;
  violation: Violation | undefined;
  /** Records how far the wall clock of a worker is off. */
  addClockSkew(ms: number): void;
  /** Largest difference between two readings of wall clocks at the same time. */
  clockErrorMs(): number;
  /** Only the first violation is kept, because later ones follow from it. */
  reportViolation(invariant: string, detail: string): void;
  log(who: string, what: string): void;
  /** The last lines of the trace, oldest first. */
  trace(): readonly string[];
}

export type WorldOptions = {
  readonly random: Random;
  readonly seed?: number;
  /** Receives every line of the trace. */
  onLine?(line: string): void;
};

const maxTraceLines = 40;

export function createWorld({ random, seed = 0, onLine }: WorldOptions): World {
  const scheduler = createScheduler(random);
  const lines: [at: number, who: string, what: string][] = [];
  const formatLine = ([at, who, what]: (typeof lines)[number]) =>
    `${String(at).padStart(6)} ms  ${who.padEnd(10)} ${what}`;
  let [minSkewMs, maxSkewMs] = [0, 0];
  const world: World = {
    seed,
    random,
    scheduler,
    totals: createTotals(),
    isCalm: false,
    hasExactClocks: false,
    violation: undefined,
    addClockSkew(ms) {
      minSkewMs = Math.min(minSkewMs, ms);
      maxSkewMs = Math.max(maxSkewMs, ms);
    },
    clockErrorMs: () => maxSkewMs - minSkewMs,
    reportViolation(invariant, detail) {
      world.log("!", `${invariant}: ${detail}`);
      world.violation ??= { invariant, detail };
    },
    log(who, what) {
      lines.push([scheduler.now(), who, what]);
      if (lines.length > 2 * maxTraceLines) lines.splice(0, maxTraceLines);
      if (onLine) onLine(formatLine([scheduler.now(), who, what]));
    },
    trace: () => lines.slice(-maxTraceLines).map(formatLine),
  };
  return world;
}
