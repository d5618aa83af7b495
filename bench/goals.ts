import { costOf, growthOf, ratioOf } from "./compare.ts";
import type { loopSizes } from "./loop.ts";
import type { Results } from "./rounds.ts";
import { median } from "./statistics.ts";

/** What Capstan's figures must be; undefined where it was not measured. */
export type Goal = {
  readonly what: string;
  readonly limit: number;
  measure(results: Results): number | undefined;
};

const beside = (what: string, work: string, limit: number): Goal => ({
  what: `${what}, times the floor`,
  limit,
  measure: (results) => ratioOf(results, { peer: "capstan", work })?.middle,
});

export const goals: readonly Goal[] = [
  beside("text in a burst", "burst", 1.5),
  beside("200 paced streams", "paced", 1.15),
  beside("10 turns of 4 calls", "calls", 2),
  beside("200 turns", "turns-200", 1),
  beside("400 turns", "turns-400", 1),
  {
    what: "growth exponent, 25 to 400 turns",
    limit: 1.05,
    measure: (results) => growthOf(results, "capstan")?.middle,
  },
  beside("1,000 runs with a tool", "concurrent-1000", 1.5),
  {
    what: "live memory, KB per run in flight",
    limit: 50,
    measure: (results) => costOf(results, { peer: "capstan", work: "memory" })?.middle,
  },
  {
    what: "import with one client, ms of CPU",
    limit: 60,
    measure: ({ imports }) => {
      const own = imports.filter(({ peer }) => peer === "capstan").map(({ ms }) => ms);
      return own.length > 0 ? median(own) : undefined;
    },
  },
  { what: "packages installed", limit: 9, measure: ({ installs }) => installs.get("capstan")?.packages },
  { what: "installed, MB", limit: 15, measure: ({ installs }) => installs.get("capstan")?.megabytes },
  { what: "the loop alone: a turn of 1,600 beside one of 100", limit: 1.3, measure: loopGrowth },
];

function loopGrowth({ loops }: Results): number | undefined {
  const at = (size: (typeof loopSizes)[number]) =>
    loops.filter(({ toolTurns }) => toolTurns === size).map(({ samples }) => median(samples));
  const [base, long] = [at(100), at(1600)];
  return base.length > 0 ? median(base.map((cost, round) => (long[round] ?? Number.NaN) / cost)) : undefined;
}
