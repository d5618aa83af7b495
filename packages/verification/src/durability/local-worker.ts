// A worker process that takes runs from the store.
import { local } from "capstan/engines/local";
import { runEngineWorker } from "./run-engine-worker.ts";

await runEngineWorker(async (options) => ({ engine: local(options) }));
