import { findPostgresFolder } from "@capstan/verification/postgres";
import { expect, it } from "vitest";
import { runDbosTrial } from "./testing/run-dbos-trial.ts";

it.skipIf(!findPostgresFolder())(
  "20 kills, four workers on DBOS: no run is lost, no effect is duplicated, readers get each fact once (F73, F74)",
  async () => {
    const report = await runDbosTrial({ workers: 4, kills: 20, breakpoints: 0.4 });
    expect(report.problems).toEqual([]);
    expect(report.recoveries).toBeGreaterThan(0);
    expect(report.runs).toBe(report.enqueued);
    expect(report.read).toBe(report.facts);
  },
  600_000,
);

it.skipIf(!findPostgresFolder())(
  "Postgres restarts between kills of workers on DBOS: every run ends, no effect is duplicated (F73, F74)",
  async () => {
    const report = await runDbosTrial({
      ...{ workers: 3, kills: 6, breakpoints: 0.4 },
      disturb: (server) => server.restart(),
    });
    expect(report.problems).toEqual([]);
    expect(report.runs).toBe(report.enqueued);
    expect(report.read).toBe(report.facts);
  },
  600_000,
);
