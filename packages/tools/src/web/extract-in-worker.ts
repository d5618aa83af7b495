import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { AgentError } from "capstan";
import type { ExtractAnswer, Extracted, ExtractTask } from "./extract-task.ts";
import { waitOrAbort } from "./wait-or-abort.ts";

const maxExtractMs = 15_000;
const maxMegabytes = 320;
const memoryCheckMs = 50;
const maxWorkers = 4;

/** Sources run as they are. A build is resolved by its subpath, because a bundler may have moved this code. */
function getWorkerFile(): URL {
  if (import.meta.url.endsWith(".ts")) return new URL("./extract-worker.ts", import.meta.url);
  return pathToFileURL(createRequire(import.meta.url).resolve("@capstan/tools/extract-worker"));
}

let runningWorkers = 0;
const queuedTasks: (() => void)[] = [];

/**
 * Extracts in a worker thread, so that untrusted documents cannot block the process and their time and memory are
 * limited. Runs a few at a time and queues the rest.
 */
export async function extractInWorker(task: ExtractTask, signal: AbortSignal): Promise<Extracted> {
  if (runningWorkers >= maxWorkers)
    await waitOrAbort(new Promise<void>((start) => queuedTasks.push(start)), signal);
  runningWorkers += 1;
  try {
    return await waitForWorker(new Worker(getWorkerFile(), buildWorkerOptions(task)), signal);
  } finally {
    runningWorkers -= 1;
    queuedTasks.shift()?.();
  }
}

function buildWorkerOptions(workerData: ExtractTask): ConstructorParameters<typeof Worker>[1] {
  const resourceLimits = { maxOldGenerationSizeMb: 256, stackSizeMb: 4 };
  // Worker output is discarded: parsers print warnings, and stdout may carry a protocol.
  return { workerData, env: {}, execArgv: [], stdout: true, stderr: true, resourceLimits };
}

async function waitForWorker(worker: Worker, signal: AbortSignal): Promise<Extracted> {
  const { promise, resolve, reject } = Promise.withResolvers<ExtractAnswer>();
  worker.stdout.resume();
  worker.stderr.resume();
  worker.once("message", resolve);
  worker.once("error", (error) => reject(createExtractError(describeWorkerError(error), error)));
  worker.once("exit", () => reject(createExtractError("the worker exited")));
  const timer = setTimeout(
    () => reject(createExtractError(`it took longer than ${maxExtractMs} ms`)),
    maxExtractMs,
  );
  // A worker's resource limits do not include buffers, so their memory is checked from here.
  const watch = setInterval(() => {
    void measureMegabytes(worker).then((megabytes) => {
      if (megabytes > maxMegabytes) reject(createExtractError("it needs too much memory"));
    });
  }, memoryCheckMs);
  try {
    const answer = await waitOrAbort(promise, signal);
    if ("extracted" in answer) return answer.extracted;
    throw createExtractError(answer.problem.slice(0, 200).replace(/\.$/, ""));
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
    await worker.terminate();
  }
}

async function measureMegabytes(worker: Worker): Promise<number> {
  try {
    const { used_heap_size, external_memory } = await worker.getHeapStatistics();
    return (used_heap_size + external_memory) / 1_000_000;
  } catch {
    return 0; // the worker has just exited
  }
}

function describeWorkerError(error: Error & { code?: string }): string {
  return error.code === "ERR_WORKER_OUT_OF_MEMORY" ? "it needs too much memory" : "the worker failed";
}

function createExtractError(reason: string, cause?: unknown): AgentError {
  const message = `Could not extract the document: ${reason}. For a web page, use extract: false to get its source.`;
  return new AgentError("tool_failed", message, { retryable: false, ...(cause !== undefined && { cause }) });
}
