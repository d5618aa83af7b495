import { computeCost, computeGrowth, computeRatio } from "./compare.ts";
import type { loopSizes } from "./loop.ts";
import type { Results } from "./rounds.ts";
import { computeMedian } from "./statistics.ts";

/** An upper bound for one of Capstan's figures. `measure` returns undefined if it was not measured. */
export type Goal = {
  readonly title: string;
  readonly limit: number;
  measure(results: Results): number | undefined;
};

const createRatioGoal = (title: string, work: string, limit: number): Goal => ({
  title: `${title}, times the floor`,
  limit,
  measure: (results) => computeRatio(results, { peer: "capstan", work })?.middle,
});

export const goals: readonly Goal[] = [
  createRatioGoal("text in a burst", "burst", 0.8),
  createRatioGoal("200 paced streams", "paced", 1),
  createRatioGoal("10 turns of 4 calls", "calls", 0.9),
  createRatioGoal("200 turns", "turns-200", 0.6),
  createRatioGoal("400 turns", "turns-400", 0.6),
  {
    title: "growth exponent, 25 to 400 turns",
    limit: 1,
    measure: (results) => computeGrowth(results, "capstan")?.middle,
  },
  createRatioGoal("1,000 runs with a tool", "concurrent-1000", 1.1),
  createRatioGoal("1,000 runs of 5 turns with 2 calls, zod", "zod-1000", 1.2),
  {
    title: "live memory, KB per run in flight",
    limit: 40,
    measure: (results) => computeCost(results, { peer: "capstan", work: "memory" })?.middle,
  },
  {
    title: "import with one client, ms of CPU",
    limit: 20,
    measure: ({ imports }) => {
      const importTimes = imports.filter(({ peer }) => peer === "capstan").map(({ ms }) => ms);
      return importTimes.length > 0 ? computeMedian(importTimes) : undefined;
    },
  },
  { title: "packages installed", limit: 9, measure: ({ installs }) => installs.get("capstan")?.packages },
  { title: "installed, MB", limit: 15, measure: ({ installs }) => installs.get("capstan")?.megabytes },
  { title: "the loop alone: a turn of 1,600 beside one of 100", limit: 1.3, measure: measureLoopGrowth },
];

function measureLoopGrowth({ loops }: Results): number | undefined {
  const getMedians = (size: (typeof loopSizes)[number]) =>
    loops.filter(({ toolTurns }) => toolTurns === size).map(({ samples }) => computeMedian(samples));
  const [base, long] = [getMedians(100), getMedians(1600)];
  return base.length > 0
    ? computeMedian(base.map((cost, round) => (long[round] ?? Number.NaN) / cost))
    : undefined;
}
