import type { WireName } from "./model/wires.ts";
import { getPeer } from "./peers.ts";
import type { Results } from "./rounds.ts";
import { computeGrowthExponent, computeMedian } from "./statistics.ts";
import { turnCounts } from "./works.ts";

export type Figure = { readonly middle: number; readonly low: number; readonly high: number };
export type Subject = { readonly peer: string; readonly work: string; readonly wire?: WireName };

/** The cost by round, in the unit of the work. */
function getCostsByRound(
  results: Results,
  { peer, work, wire = getPeer(peer).wire }: Subject,
): Map<number, number> {
  const cells = results.cells.filter(
    (cell) => cell.peer === peer && cell.work === work && cell.wire === wire,
  );
  return new Map(cells.map(({ round, samples }) => [round, computeMedian(samples)]));
}

/** Median, lowest and highest of the rounds. */
function computeFigure(values: readonly number[]): Figure | undefined {
  if (values.length === 0) return undefined;
  return { middle: computeMedian(values), low: Math.min(...values), high: Math.max(...values) };
}

export function computeCost(results: Results, subject: Subject): Figure | undefined {
  return computeFigure([...getCostsByRound(results, subject).values()]);
}

/** Ratio to the floor on the same wire, within each round, because the two are measured close together. */
export function computeRatio(results: Results, subject: Subject): Figure | undefined {
  const wire = subject.wire ?? getPeer(subject.peer).wire;
  const floor = getCostsByRound(results, { peer: "floor", work: subject.work, wire });
  const ratios = [...getCostsByRound(results, subject)].flatMap(([round, cost]) => {
    const base = floor.get(round);
    return base ? [cost / base] : [];
  });
  return computeFigure(ratios);
}

/** The exponent with which the cost of a run grows with its turns. */
export function computeGrowth(results: Results, peer: string): Figure | undefined {
  const byCount = turnCounts.map((turns) => ({
    turns,
    byRound: getCostsByRound(results, { peer, work: `turns-${turns}` }),
  }));
  const exponents = Array.from({ length: results.plan.rounds }, (_, round) =>
    byCount.flatMap(({ turns, byRound }) => {
      const cost = byRound.get(round);
      return cost === undefined ? [] : [{ size: turns + 1, cost: cost * (turns + 1) }];
    }),
  )
    .filter((points) => points.length === turnCounts.length)
    .map(computeGrowthExponent);
  return computeFigure(exponents);
}
