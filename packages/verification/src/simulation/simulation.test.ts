import { describe, expect, it } from "vitest";
import { mutations } from "./mutations.ts";
import { formatReport, type SimulationOptions, type SimulationResult, simulate } from "./simulation.ts";
import { createTotals } from "./world.ts";

const isLong = process.env.CAPSTAN_LONG === "1";

type Search = SimulationOptions & {
  readonly seeds: number;
  /** The first seed. Default: 1. */
  readonly from?: number;
  readonly breaks?: string;
  /** Adds up what happened. */
  readonly sums?: SimulationResult["totals"];
};

/** The first simulation that violates an invariant, or the given one. */
async function findViolation({
  seeds,
  from = 1,
  breaks,
  sums,
  ...options
}: Search): Promise<SimulationResult | undefined> {
  for (let seed = from; seed < from + seeds; seed++) {
    const simulated = await simulate(seed, options);
    const { violation, totals } = simulated;
    if (sums) for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += totals[name];
    if (violation && (breaks ?? violation.invariant) === violation.invariant) return simulated;
    // A simulation never yields to the event loop.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return undefined;
}

describe("a simulated world", () => {
  it("violates no invariant under kills, pauses and failures (F70, F72, F73, F74, F75, F76, F77, F84, S4-22, S4-60), and contains everything that may happen to a run", async () => {
    const sums = createTotals();
    const broken = await findViolation({ seeds: isLong ? 20_000 : 500, sums });
    expect(broken && formatReport(broken)).toBeUndefined();
    expect(sums.runs).toBeGreaterThan(60);
    expect(sums.facts).toBeGreaterThan(600);
    const rare = Object.entries(sums).filter(([, count]) => count <= 5);
    expect(rare).toEqual([]);
  }, 600_000);

  it.each([
    [
      "keeps other runs out until the lease of a suspect is released, also when the store has failed",
      602_862,
    ],
    ["lets other runs execute while a suspect waits for its turn in the same process", 701_096],
    ["counts no time before the first failure as an outage, not even of a paused process", 691_417],
  ])("%s", async (_, seed) => {
    const simulated = await simulate(seed, {});
    expect(simulated.violation && formatReport(simulated)).toBeUndefined();
  });

  it("is the same for the same seed", async () => {
    const recordTrace = async (seed: number) => {
      const lines: string[] = [];
      await simulate(seed, { onLine: (line) => lines.push(line) });
      return lines;
    };
    for (const seed of [7, 98, 254, 359]) {
      const first = await recordTrace(seed);
      expect(first.length).toBeGreaterThan(10);
      expect(await recordTrace(seed)).toEqual(first);
    }
  });

  it("restores Math.random and crypto", async () => {
    const { random } = Math;
    const { crypto } = globalThis;
    await simulate(1);
    expect(Math.random).toBe(random);
    expect(globalThis.crypto).toBe(crypto);
  });
});

describe("the simulation detects", () => {
  it.each(mutations)("$what", async (mutation) => {
    const broken = await findViolation({ seeds: 200, ...mutation });
    expect(broken?.violation?.invariant).toBe(mutation.breaks);
    expect(broken && formatReport(broken)).toContain(`npm run simulate -- --seed ${broken?.seed} --trace`);
  });
});
