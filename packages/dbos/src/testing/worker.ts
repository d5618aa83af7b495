// A worker process for kill tests: takes segments from the queue of DBOS.
import { runEngineWorker } from "@capstan/verification/engine-worker";
import { dbos } from "../dbos.ts";

await runEngineWorker(
  async (options, settings: { readonly databaseUrl: string; readonly pollMs: number }) => {
    const engine = dbos({ ...options, ...settings });
    await engine.ready;
    return { engine };
  },
);
