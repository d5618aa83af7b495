import { expect, it } from "vitest";
import { findPostgresFolder, startPostgres } from "../postgres/start-postgres.ts";
import { runApprovalTrial } from "./restate-approvals.ts";
import { findRestateServer } from "./start-restate.ts";

it.skipIf(!findRestateServer() || !findPostgresFolder())(
  "1,000 runs that wait for approvals survive the kill of every process and are completed by new code (S4-60, F78)",
  async () => {
    const postgres = await startPostgres();
    try {
      const store = { type: "postgres", url: postgres.url, schema: "approvals" } as const;
      const report = await runApprovalTrial({ store, count: 1_000, workers: 2 });
      expect(report).toMatchObject({ problems: [], completed: 1_000 });
      // A worker that is too busy for the health check loses its runs; an unfinished call may then be repeated if that is safe.
      expect(report.executions - report.repeated).toBe(2_000);
    } finally {
      await postgres.stop();
    }
  },
);
