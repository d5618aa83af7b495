import { describe, expect, it } from "vitest";
import { findPostgresFolder } from "../postgres/start-postgres.ts";
import type { EngineTrialReport } from "./engine-trial.ts";
import { runLocalTrial } from "./local-trial.ts";

function expectWhole(report: EngineTrialReport): void {
  expect(report.problems, `seed ${report.seed}`).toEqual([]);
  expect(report.runs).toBe(report.enqueued);
  expect(report.read).toBe(report.facts);
  // The kills must have hit something.
  expect(report.recoveries).toBeGreaterThan(0);
}

for (const store of ["sqlite", "postgres"] as const)
  describe.skipIf(store === "postgres" && !findPostgresFolder())(`on ${store}`, () => {
    it("20 kills of 4 workers, under handoffs, sub-agents and approvals: every enqueued run ends, no effect is duplicated, readers get each fact once (F73, F74)", async ({
      annotate,
    }) => {
      const report = await runLocalTrial({ store, workers: 4, kills: 20, breakpoints: 0.4 });
      await annotate(JSON.stringify(report));
      expectWhole(report);
    });
  });

it.skipIf(!findPostgresFolder())(
  "Postgres restarts between kills of workers: every enqueued run ends, no effect is duplicated (F73, F74)",
  async ({ annotate }) => {
    const disturb = (server: { restart(): Promise<void> }) => server.restart();
    const report = await runLocalTrial({
      store: "postgres",
      workers: 3,
      kills: 6,
      breakpoints: 0.4,
      disturb,
    });
    await annotate(JSON.stringify(report));
    expectWhole(report);
  },
);
