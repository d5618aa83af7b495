// The worker of `parseInWorker`: calls `parse` of the module and posts the result or the message of the error.
import { parentPort, workerData } from "node:worker_threads";
import type { ParseJob, ParseMessage } from "./parse-in-worker.ts";

const { module, input }: ParseJob = workerData;
const post = (message: ParseMessage): void => parentPort?.postMessage(message);

try {
  const { parse } = await import(module);
  post({ result: await parse(input) });
} catch (error) {
  post({ error: error instanceof Error ? error.message : String(error) });
}
