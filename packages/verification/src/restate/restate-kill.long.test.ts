import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findPostgresFolder, type PostgresServer, startPostgres } from "../postgres/start-postgres.ts";
import { type RestateTrialOptions, type RestateTrialReport, runRestateTrial } from "./restate-trial.ts";
import { findRestateServer } from "./start-restate.ts";

const kills = { workers: 4, workerKills: 20, serverKills: 5 };

async function expectWhole(options: RestateTrialOptions): Promise<RestateTrialReport> {
  const report = await runRestateTrial(options);
  expect(report.problems).toEqual([]);
  expect(report.enqueued).toBe(report.runs);
  // The kills must have hit something.
  expect(report.recoveries).toBeGreaterThan(0);
  return report;
}

describe.skipIf(!findRestateServer() || !findPostgresFolder())(
  "20 kills of 4 workers: every run ends, no effect is duplicated, readers get each fact once (F73, F74)",
  () => {
    let postgres: PostgresServer;
    beforeAll(async () => {
      postgres = await startPostgres();
    });
    afterAll(() => postgres.stop());

    it("with 5 kills of a single Restate server, on SQLite", async () => {
      await expectWhole(kills);
    });

    it("with 5 kills of a single Restate server, on Postgres", async () => {
      await expectWhole({ ...kills, store: { type: "postgres", url: postgres.url, schema: "single" } });
    });

    it("with 5 kills of a node of three, on Postgres", async () => {
      await expectWhole({
        ...kills,
        nodes: 3,
        store: { type: "postgres", url: postgres.url, schema: "cluster" },
      });
    });
  },
);
