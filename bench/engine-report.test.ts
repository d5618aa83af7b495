import { expect, it } from "vitest";
import type { EngineCell, RunCosts } from "./engine-cell.ts";
import { buildEngineCosts } from "./engine-report.ts";

const zeroCosts: RunCosts = {
  ...{ workerCpuMs: 0, clientCpuMs: 0, engineCpuMs: 0, postgresCpuMs: 0, roundTrips: 0, trafficBytes: 0 },
  ...{ transactions: 0, walBytes: 0, walSyncs: 0, storedBytes: 0 },
};

function buildCell(steps: number, workers: number, costs: Partial<RunCosts>): EngineCell {
  const address = { engine: "postgres", id: "", sqliteFile: "", postgresUrl: "", ingressUrl: "" } as const;
  const effort = { concurrency: 1, warmUpMs: 1, measureMs: 1, singleRuns: 1, adminUrl: "" };
  const order = { address, workers, toolTurns: (steps - 1) / 2, ...effort };
  return {
    order,
    steps,
    stepsPerSecond: 100 * workers,
    stepMs: 2,
    startMs: 30,
    costs: { ...zeroCosts, ...costs },
  };
}

it("runs of two lengths separate the cost of a step from that of a run, and noise never makes one negative", () => {
  const cells = [
    buildCell(3, 1, { workerCpuMs: 13, roundTrips: 30, walBytes: 30 }),
    buildCell(21, 1, { workerCpuMs: 31, roundTrips: 420, walBytes: 21 }),
    buildCell(21, 2, { workerCpuMs: 1_000 }),
  ];
  const { postgres } = buildEngineCosts({ cells, rounds: 1, loopStepMs: 0.1, load: 0 }).engines;
  expect([postgres?.perRun.workerCpuMs, postgres?.perStep.workerCpuMs]).toEqual([10, 1]);
  expect([postgres?.perRun.roundTrips, postgres?.perStep.roundTrips]).toEqual([0, 20]);
  expect([postgres?.perRun.walBytes, postgres?.perStep.walBytes]).toEqual([21, 0]);
  expect(postgres?.throughput).toEqual([
    { workers: 1, stepsPerSecond: 100, min: 100, max: 100 },
    { workers: 2, stepsPerSecond: 200, min: 200, max: 200 },
  ]);
});
