import { describe, expect, it } from "vitest";
import { mutations } from "./mutations.ts";
import { formatReport, type SimulationOptions, type SimulationResult, simulate } from "./simulation.ts";

const isLong = process.env.CAPSTAN_LONG === "1";

type Search = SimulationOptions & { readonly seeds: number; readonly breaks?: string };

/** The first world that breaks a promise, or this one, among so many. */
async function firstBroken({ seeds, breaks, ...options }: Search): Promise<SimulationResult | undefined> {
  for (let seed = 1; seed <= seeds; seed++) {
    const simulated = await simulate(seed, options);
    const { violation } = simulated;
    if (violation && (breaks ?? violation.invariant) === violation.invariant) return simulated;
    // A world leaves the event loop no turn of its own.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return undefined;
}

describe("a simulated world", () => {
  it("keeps every promise, whatever is killed, paused or failing (F70, F72, F73, F74, F75, F76, F77, F84, S4-22, S4-60)", async () => {
    const broken = await firstBroken({ seeds: isLong ? 20_000 : 500 });
    expect(broken && formatReport(broken)).toBeUndefined();
  }, 600_000);

  it("is the same world again for the same seed", async () => {
    const traceOf = async (seed: number) => {
      const lines: string[] = [];
      await simulate(seed, { onLine: (line) => lines.push(line) });
      return lines;
    };
    for (const seed of [7, 98, 254, 359]) {
      const first = await traceOf(seed);
      expect(first.length).toBeGreaterThan(10);
      expect(await traceOf(seed)).toEqual(first);
    }
  });

  it("has runs, kills, pauses and faults in it", async () => {
    const sums = { runs: 0, facts: 0, kills: 0, pauses: 0, faults: 0 };
    for (let seed = 1; seed <= 60; seed++) {
      const { totals } = await simulate(seed);
      for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += totals[name];
    }
    expect(sums.runs).toBeGreaterThan(60);
    expect(sums.facts).toBeGreaterThan(600);
    expect(Math.min(sums.kills, sums.pauses, sums.faults)).toBeGreaterThan(10);
  });

  it("leaves chance and ids of the process as they were", async () => {
    const { random } = Math;
    const { crypto } = globalThis;
    await simulate(1);
    expect(Math.random).toBe(random);
    expect(globalThis.crypto).toBe(crypto);
  });
});

describe("the simulation notices", () => {
  it.each(mutations)("$what", async (breakage) => {
    const broken = await firstBroken({ seeds: 200, ...breakage });
    expect(broken?.violation?.invariant).toBe(breakage.breaks);
    expect(broken && formatReport(broken)).toContain(`npm run simulate -- --seed ${broken?.seed} --trace`);
  });
});
