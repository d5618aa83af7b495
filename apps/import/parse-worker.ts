// The worker of `createParserWorker`: calls `parse` of the module of each job, and posts the result or the error's message.
import { parentPort } from "node:worker_threads";
import type { ParseJob, ParseMessage } from "./parse-in-worker.ts";

async function runJob({ module, input }: ParseJob): Promise<ParseMessage> {
  try {
    const { parse } = await import(module);
    return { result: await parse(input) };
  } catch (error) {
    return { error: formatError(error) };
  }
}

function formatError(error: unknown): string {
  if (error instanceof RangeError && error.message.includes("call stack")) return "It is nested too deeply.";
  return error instanceof Error ? error.message : String(error);
}

parentPort?.on("message", async (job: ParseJob) => parentPort?.postMessage(await runJob(job)));
