import { expect, it } from "vitest";
import { findPostgresFolder } from "../postgres/start-postgres.ts";
import { runApprovalsTrial } from "./approvals-trial.ts";

for (const store of ["sqlite", "postgres"] as const)
  it.skipIf(store === "postgres" && !findPostgresFolder())(
    `1,000 runs that wait for approvals on ${store} survive the kill of every process, and new code completes each once (S4-60, F78)`,
    async ({ annotate }) => {
      const report = await runApprovalsTrial({ store, count: 1_000, workers: 4 });
      await annotate(JSON.stringify(report));
      expect(report).toMatchObject({ problems: [], runs: 1_000, approved: 1_000, interrupted: 0 });
    },
  );
