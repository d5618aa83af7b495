import { findPostgresFolder } from "@capstan/verification/postgres";
import { expect, it } from "vitest";
import { runDbosTrial } from "./testing/run-dbos-trial.ts";

it.skipIf(!findPostgresFolder())(
  "2 kills, two workers on DBOS: no run is lost, no effect is duplicated, readers get each fact once (F73, F74)",
  async () => {
    const report = await runDbosTrial({ workers: 2, kills: 2, breakpoints: 1 });
    expect(report.problems).toEqual([]);
    expect(report.recoveries).toBeGreaterThan(0);
    expect(report.runs).toBe(report.enqueued);
    expect(report.read).toBe(report.facts);
  },
);
