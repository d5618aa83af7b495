import { expect, it } from "vitest";
import { findPostgresFolder } from "../postgres/start-postgres.ts";
import { runLocalTrial } from "./local-trial.ts";

for (const store of ["sqlite", "postgres"] as const)
  it.skipIf(store === "postgres" && !findPostgresFolder())(
    `3 kills, two workers on ${store}, under handoffs, sub-agents and approvals: nothing enqueued is lost, readers get each fact once (F73, F74)`,
    async () => {
      const report = await runLocalTrial({ store, workers: 2, kills: 3, breakpoints: 0.5 });
      expect(report.problems, `seed ${report.seed}`).toEqual([]);
      expect(report.runs).toBe(report.enqueued);
      expect(report.read).toBe(report.facts);
    },
  );
