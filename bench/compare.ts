import type { WireName } from "./model/wires.ts";
import { peerNamed } from "./peers.ts";
import type { Results } from "./rounds.ts";
import { growthExponent, median } from "./statistics.ts";
import { turnCounts } from "./works.ts";

export type Figure = { readonly middle: number; readonly low: number; readonly high: number };
export type Subject = { readonly peer: string; readonly work: string; readonly wire?: WireName };

/** The cost in each round, in the unit of the work. */
function costs(results: Results, { peer, work, wire = peerNamed(peer).wire }: Subject): Map<number, number> {
  const own = results.cells.filter((cell) => cell.peer === peer && cell.work === work && cell.wire === wire);
  return new Map(own.map(({ round, samples }) => [round, median(samples)]));
}

/** The middle of the rounds, with the lowest and the highest. */
function figureOf(values: readonly number[]): Figure | undefined {
  if (values.length === 0) return undefined;
  return { middle: median(values), low: Math.min(...values), high: Math.max(...values) };
}

export function costOf(results: Results, subject: Subject): Figure | undefined {
  return figureOf([...costs(results, subject).values()]);
}

/** Compared with the floor on the same wire, within each round, because the two were measured close together. */
export function ratioOf(results: Results, subject: Subject): Figure | undefined {
  const wire = subject.wire ?? peerNamed(subject.peer).wire;
  const floor = costs(results, { peer: "floor", work: subject.work, wire });
  const ratios = [...costs(results, subject)].flatMap(([round, cost]) => {
    const base = floor.get(round);
    return base ? [cost / base] : [];
  });
  return figureOf(ratios);
}

/** How the cost of a run grows with its turns. */
export function growthOf(results: Results, peer: string): Figure | undefined {
  const byCount = turnCounts.map((turns) => ({
    turns,
    byRound: costs(results, { peer, work: `turns-${turns}` }),
  }));
  const exponents = Array.from({ length: results.plan.rounds }, (_, round) =>
    byCount.flatMap(({ turns, byRound }) => {
      const cost = byRound.get(round);
      return cost === undefined ? [] : [{ size: turns + 1, cost: cost * (turns + 1) }];
    }),
  )
    .filter((points) => points.length === turnCounts.length)
    .map(growthExponent);
  return figureOf(exponents);
}
