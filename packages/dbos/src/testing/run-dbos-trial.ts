import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EngineTrialReport, runEngineTrial } from "@capstan/verification/engine-trial";
import { type PostgresServer, startPostgres } from "@capstan/verification/postgres";
import { dbos } from "../dbos.ts";

export type DbosTrialOptions = {
  readonly workers: number;
  readonly kills: number;
  readonly breakpoints: number;
  disturb?(server: PostgresServer): Promise<void>;
};

const leaseMs = 400;

/** Kills workers on a Postgres server that holds the store and the queue. */
export async function runDbosTrial(options: DbosTrialOptions): Promise<EngineTrialReport> {
  const { disturb, ...trialOptions } = options;
  // A server that is restarted must not lose what it acknowledged.
  const server = await startPostgres({ durable: disturb !== undefined });
  const folder = mkdtempSync(join(tmpdir(), "capstan-dbos-"));
  const settings = { databaseUrl: server.url, pollMs: 50 };
  try {
    return await runEngineTrial({
      ...{ ...trialOptions, folder, leaseMs },
      store: { type: "postgres", url: server.url, schema: "capstan" },
      program: { file: join(import.meta.dirname, "worker.ts"), settings },
      openClient: (client) =>
        dbos({ ...client, ...settings, leaseMs, work: false, onError: () => undefined }),
      ...(disturb && { disturb: () => disturb(server) }),
    });
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}
