import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { AgentError } from "capstan";
import type { ExtractAnswer, Extracted, ExtractTask } from "./extract-task.ts";
import { untilAborted } from "./until-aborted.ts";

const mostMs = 15_000;
const mostMegabytes = 320;
const lookEveryMs = 50;
const mostWorkers = 4;

/** Sources run as they are; what is built is found by its name, wherever the bundler has put this code. */
function workerFile(): URL {
  if (import.meta.url.endsWith(".ts")) return new URL("./extract-worker.ts", import.meta.url);
  return pathToFileURL(createRequire(import.meta.url).resolve("@capstan/tools/extract-worker"));
}

let running = 0;
const waiting: (() => void)[] = [];

/**
 * Extracts in a thread of its own: documents of strangers must not hold up the process, and its time and its memory
 * can be limited. A few at a time; the others wait.
 */
export async function extractInWorker(task: ExtractTask, signal: AbortSignal): Promise<Extracted> {
  if (running >= mostWorkers) await untilAborted(new Promise<void>((go) => waiting.push(go)), signal);
  running += 1;
  try {
    return await extractedBy(new Worker(workerFile(), optionsFor(task)), signal);
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

function optionsFor(workerData: ExtractTask): ConstructorParameters<typeof Worker>[1] {
  const resourceLimits = { maxOldGenerationSizeMb: 256, stackSizeMb: 4 };
  // Its words are dropped: parsers complain about documents, and standard output may be a protocol.
  return { workerData, env: {}, execArgv: [], stdout: true, stderr: true, resourceLimits };
}

async function extractedBy(worker: Worker, signal: AbortSignal): Promise<Extracted> {
  const { promise, resolve, reject } = Promise.withResolvers<ExtractAnswer>();
  worker.stdout.resume();
  worker.stderr.resume();
  worker.once("message", resolve);
  worker.once("error", (error) => reject(failed(withoutPaths(error), error)));
  worker.once("exit", () => reject(failed("the reader gave up")));
  const timer = setTimeout(() => reject(failed(`it took longer than ${mostMs} ms`)), mostMs);
  // The limits of a worker do not count the memory of buffers, so that is looked at from here.
  const watch = setInterval(() => {
    void megabytesOf(worker).then((megabytes) => {
      if (megabytes > mostMegabytes) reject(failed("it takes too much memory"));
    });
  }, lookEveryMs);
  try {
    const answer = await untilAborted(promise, signal);
    if ("extracted" in answer) return answer.extracted;
    throw failed(answer.problem.slice(0, 200).replace(/\.$/, ""));
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
    await worker.terminate();
  }
}

async function megabytesOf(worker: Worker): Promise<number> {
  try {
    const { used_heap_size, external_memory } = await worker.getHeapStatistics();
    return (used_heap_size + external_memory) / 1_000_000;
  } catch {
    return 0; // a worker that has just ended has no statistics
  }
}

function withoutPaths(error: Error & { code?: string }): string {
  return error.code === "ERR_WORKER_OUT_OF_MEMORY" ? "it takes too much memory" : "the reader failed";
}

function failed(why: string, cause?: unknown): AgentError {
  const message = `The document could not be made readable: ${why}. Of a page, extract: false gives the source.`;
  return new AgentError("tool_failed", message, { retryable: false, ...(cause !== undefined && { cause }) });
}
