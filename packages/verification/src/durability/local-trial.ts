import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { local } from "capstan/engines/local";
import { type PostgresServer, startPostgres } from "../postgres/start-postgres.ts";
import { type EngineTrialOptions, type EngineTrialReport, runEngineTrial } from "./engine-trial.ts";

export type LocalTrialOptions = Pick<EngineTrialOptions, "workers" | "kills" | "breakpoints"> & {
  readonly store: "sqlite" | "postgres";
  /** Happens to the Postgres server halfway. */
  disturb?(server: PostgresServer): Promise<void>;
};

const leaseMs = 400;

/** Kills workers of `local`. The engine that enqueues, approves and reads executes nothing. */
export async function runLocalTrial(options: LocalTrialOptions): Promise<EngineTrialReport> {
  const { store, disturb, ...trialOptions } = options;
  // A server that is restarted must not lose what it acknowledged.
  const server = store === "postgres" ? await startPostgres({ durable: disturb !== undefined }) : undefined;
  const folder = mkdtempSync(join(tmpdir(), "capstan-local-"));
  try {
    return await runEngineTrial({
      ...{ ...trialOptions, folder, leaseMs },
      store: server
        ? { type: "postgres", url: server.url, schema: "capstan" }
        : { type: "sqlite", file: join(folder, "store.db") },
      program: { file: join(import.meta.dirname, "local-worker.ts"), settings: null },
      openClient: (client) => local({ ...client, leaseMs, work: false }),
      ...(server && disturb && { disturb: () => disturb(server) }),
    });
  } finally {
    await server?.stop();
    rmSync(folder, { recursive: true });
  }
}
