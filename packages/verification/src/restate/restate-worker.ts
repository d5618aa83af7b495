// A worker process that a Restate server calls.
import { restate } from "@capstan/restate";
import { runEngineWorker } from "../durability/run-engine-worker.ts";

await runEngineWorker(
  async (options, settings: { readonly url: string; readonly recoverEveryMs: number }) => {
    const { url, recoverEveryMs } = settings;
    const engine = restate({ ...options, maxRetryMs: 500, recoverEveryMs, ingress: { url } });
    const { port } = await engine.listen();
    return { engine, port };
  },
);
