import { findRestateServer } from "@capstan/verification/restate";
import { expect, it } from "vitest";
import { formatBusReport, measureBuses } from "./buses.ts";
import { buildEngineCosts, formatEngineReport } from "./engine-report.ts";
import { measureEngines } from "./engines.ts";
import { engineNames } from "./open-engine.ts";

it("the benchmark of engines completes runs on every engine, and finds their costs where they are", async () => {
  const engines = engineNames.filter((name) => name !== "restate" || findRestateServer());
  const results = await measureEngines({ rounds: 1, quick: true, engines, log: () => undefined });
  expect(results.cells).toHaveLength(4 * engines.length);
  const costs = buildEngineCosts(results).engines;
  for (const name of engines) {
    const { perRun, perStep, throughput, stepMs } = costs[name] ?? {};
    expect(throughput?.map(({ workers }) => workers)).toEqual([1, 2, 4]);
    expect(stepMs).toBeGreaterThan(0);
    const workerCpuMs = (perRun?.workerCpuMs ?? 0) + (perStep?.workerCpuMs ?? 0);
    expect(workerCpuMs).toBeGreaterThan(0);
    expect((perStep?.storedBytes ?? 0) * 2).toBeGreaterThan(1_000); // every second step stores a tool result
    const postgresCpuMs = (perRun?.postgresCpuMs ?? 0) + (perStep?.postgresCpuMs ?? 0);
    expect(postgresCpuMs > 0).toBe(name !== "sqlite");
    expect((perRun?.engineCpuMs ?? 0) + (perStep?.engineCpuMs ?? 0) > 0).toBe(name === "restate");
  }
  expect(formatEngineReport(results)).not.toMatch(/NaN|undefined/);
});

it("the benchmark of buses delivers every token, in process and through Postgres", async () => {
  const shape = { runs: 20, tokensPerSecond: 10, seconds: 1, rounds: 1 };
  const plan = { ...shape, buses: ["in-process", "postgres"] as const, log: () => undefined };
  const cells = await measureBuses(plan);
  expect(cells.map(({ bus, delivered }) => [bus, delivered])).toEqual([
    ["in-process", 1],
    ["postgres", 1],
  ]);
  expect(formatBusReport(cells, plan)).not.toMatch(/NaN|undefined/);
});
