import type { Chance } from "./chance.ts";
import { type Scheduler, scheduler } from "./scheduler.ts";

/** A promise of the runtime that was not kept. */
export type Violation = { readonly invariant: string; readonly detail: string };

/** What happened in a world, counted. */
export type Totals = {
  runs: number;
  facts: number;
  events: number;
  kills: number;
  pauses: number;
  faults: number;
};

/** What all parts of one world share. */
export interface World {
  readonly chance: Chance;
  readonly scheduler: Scheduler;
  readonly totals: Totals;
  /** From then on nothing fails any more. */
  isCalm: boolean;
  violation: Violation | undefined;
  /** The first violation counts; the others follow from it. */
  violate(invariant: string, detail: string): void;
  note(who: string, what: string): void;
  /** The last things that happened, oldest first. */
  trace(): readonly string[];
}

export type WorldOptions = {
  readonly chance: Chance;
  /** Hears of everything, for a trace of the whole world. */
  tell?(line: string): void;
};

const mostTraced = 40;

export function newWorld({ chance, tell }: WorldOptions): World {
  const time = scheduler(chance);
  const lines: [at: number, who: string, what: string][] = [];
  const written = ([at, who, what]: (typeof lines)[number]) =>
    `${String(at).padStart(6)} ms  ${who.padEnd(10)} ${what}`;
  const world: World = {
    chance,
    scheduler: time,
    totals: { runs: 0, facts: 0, events: 0, kills: 0, pauses: 0, faults: 0 },
    isCalm: false,
    violation: undefined,
    violate(invariant, detail) {
      world.note("!", `${invariant}: ${detail}`);
      world.violation ??= { invariant, detail };
    },
    note(who, what) {
      lines.push([time.now(), who, what]);
      if (lines.length > 2 * mostTraced) lines.splice(0, mostTraced);
      if (tell) tell(written([time.now(), who, what]));
    },
    trace: () => lines.slice(-mostTraced).map(written),
  };
  return world;
}
