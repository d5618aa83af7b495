import { expect, it } from "vitest";
import { findPostgresFolder } from "../postgres/start-postgres.ts";
import { runApprovalsTrial } from "./approvals-trial.ts";

for (const store of ["sqlite", "postgres"] as const)
  it.skipIf(store === "postgres" && !findPostgresFolder())(
    `50 runs that wait for approvals on ${store} survive the kill of every process, and new code completes each once (S4-60, F78)`,
    async () => {
      const report = await runApprovalsTrial({ store, count: 50, workers: 2 });
      expect(report).toMatchObject({ problems: [], runs: 50, approved: 50, interrupted: 0 });
    },
  );
