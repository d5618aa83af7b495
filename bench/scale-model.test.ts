import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { replaceSection } from "./markdown.ts";
import { parseStat } from "./process-cpu.ts";
import {
  type Cluster,
  computeNeeds,
  computeThroughput,
  type MeasuredInput,
  typicalRun,
} from "./scale-model.ts";
import {
  buildCluster,
  buildScalePlot,
  buildScaleSections,
  loadScaleInput,
  scalePage,
  scalePlot,
  simulatedWorkers,
} from "./scale-report.ts";
import { simulateThroughput } from "./scale-simulation.ts";

const input = loadScaleInput();
const { postgres: local, restate, dbos } = input.costs.engines;
if (!local || !restate || !dbos) throw new Error("bench/engine-costs.json lacks an engine.");
const measured: MeasuredInput = { engine: local, buses: input.buses };
const stepsPerRun = 21;

describe("the model of scale", () => {
  const compute = (runsPerDay: number, more: Partial<typeof typicalRun> = {}) =>
    computeNeeds({ ...typicalRun, ...more, runsPerDay }, measured);

  it("computes the peak, the active runs and the stored bytes from the runs of a day", () => {
    const need = compute(864_000, { peakFactor: 3, toolTurns: 5, activeSeconds: 20, retentionDays: 10 });
    expect(need.peakRunsPerSecond).toBeCloseTo(30);
    expect(need.peakStepsPerSecond).toBeCloseTo(330);
    expect(need.activeRuns).toBeCloseTo(600);
    const runBytes = local.perRun.storedBytes + 11 * local.perStep.storedBytes + 6 * 150 * 8;
    expect(need.storedGb).toBeCloseTo((864_000 * 10 * runBytes) / 1e9, 5);
    expect(need.workers).toBeGreaterThanOrEqual(3); // 600 active runs, 250 in each worker
  });

  it("needs one worker and one server for few runs, and more of both for many", () => {
    const [few, many] = [compute(10_000), compute(100_000_000)];
    expect([few.workers, few.postgresServers]).toEqual([1, 1]);
    expect(few.resources.every(({ share }) => share < 1)).toBe(true);
    expect(many.workers).toBeGreaterThan(100);
    expect(many.postgresServers).toBeGreaterThan(1);
    expect(many.money.machines).toBeGreaterThan(few.money.machines);
  });

  it("names what is used up first: the largest share of one unit", () => {
    const [first] = compute(100_000_000, { activeSeconds: 4_000 }).resources;
    expect(first?.name).toBe("runs of a worker");
    const atLimit = compute(first?.enoughForRuns ?? 0, { activeSeconds: 4_000 });
    expect(atLimit.activeRuns).toBeCloseTo(250, 5); // half of `maxRuns`
    expect(compute(100_000_000, { activeSeconds: 1, retentionDays: 3_650 }).resources[0]?.name).toBe(
      "Postgres disk",
    );
  });

  it("is limited by workers at first, then by Postgres", () => {
    const rates = [1, 2, 1_000, 2_000].map((workers) =>
      computeThroughput(local, stepsPerRun, buildCluster(workers)),
    );
    const [one = 0, two = 0, thousand = 0, more = 0] = rates;
    expect(two).toBeCloseTo(2 * one, 5);
    expect(more).toBe(thousand);
  });
});

describe("the simulation", () => {
  const options = { runsPerWorker: 32, stepsPerRun, steps: 20_000, seed: 7 };

  it.each([
    ["local", local],
    ["Restate", restate],
    ["DBOS", dbos],
  ])("of 1 to 64 workers on %s agrees with the model within 15 %", (_, costs) => {
    for (const workers of simulatedWorkers) {
      const cluster = buildCluster(workers);
      const rate = simulateThroughput(costs, { ...options, cluster });
      const ratio = rate / computeThroughput(costs, stepsPerRun, cluster);
      expect(ratio, `${workers} workers`).toBeGreaterThan(0.85);
      expect(ratio, `${workers} workers`).toBeLessThan(1.15);
    }
  });

  it("agrees with the model when everything shares two cores", () => {
    for (const workers of [1, 2, 4]) {
      const cluster: Cluster = { workers, postgresCores: 2, engineCores: 2, sharedCores: 2 };
      const rate = simulateThroughput(restate, { ...options, cluster });
      const ratio = rate / computeThroughput(restate, stepsPerRun, cluster);
      expect(ratio, `${workers} workers`).toBeGreaterThan(0.7); // a worker that waits for a core holds back its own
      expect(ratio, `${workers} workers`).toBeLessThan(1.15);
    }
  });

  it("waits for the disk when few runs are in flight, which the model ignores", () => {
    const slow = { ...local, stepMs: local.stepMs + 100 };
    const rate = simulateThroughput(slow, {
      ...options,
      runsPerWorker: 1,
      steps: 500,
      cluster: buildCluster(1),
    });
    expect(rate).toBeLessThan(10);
    expect(rate).toBeGreaterThan(5);
  });

  it("gives the same result for the same seed", () => {
    const simulate = (seed: number) =>
      simulateThroughput(local, { ...options, seed, cluster: buildCluster(4) });
    expect(simulate(3)).toBe(simulate(3));
    expect(simulate(3)).not.toBe(simulate(4));
  });
});

it("docs/scale.md shows what the model computes from the measured costs", () => {
  const page = readFileSync(scalePage, "utf8");
  let expected = page;
  for (const [section, text] of Object.entries(buildScaleSections(input)))
    expected = replaceSection(expected, section, text);
  expect(page).toBe(expected);
  expect(page).not.toMatch(/NaN|Infinity|undefined/);
  expect(readFileSync(scalePlot, "utf8")).toBe(buildScalePlot(input));
});

it("CPU time is read from a line of /proc, with a space in the name and children that have exited", () => {
  const line = "4242 (node worker) S 17 4242 4242 0 -1 4194560 100 0 0 0 250 50 30 20 20 0 11 0 1000 1 2";
  expect(parseStat(line)).toEqual({ pid: 4242, parent: 17, name: "node worker", cpuMs: 3_500 });
});
