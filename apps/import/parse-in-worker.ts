import { Worker } from "node:worker_threads";
import { AgentError } from "capstan";

export type ParseLimits = {
  readonly timeoutMs: number;
  /** For the heap of the worker, and again for the buffers outside of it. */
  readonly memoryMb: number;
};

export type ParseOptions = {
  readonly limits?: Partial<ParseLimits>;
  readonly signal?: AbortSignal;
};

export const defaultParseLimits: ParseLimits = { timeoutMs: 30_000, memoryMb: 256 };

/** What the worker gets and posts. */
export type ParseJob = { readonly module: string; readonly input: unknown };
export type ParseMessage = { readonly result: unknown } | { readonly error: string };

const memoryCheckMs = 100;

/**
 * Calls `parse(input)` of a module in a worker, which has neither the environment nor the console of this process. Input
 * and result are copied. The caller states the type of the result. Rejects with `file_limit` when the worker exceeds its
 * time or memory, with `file_invalid` when the parser throws, and with the reason of the signal; the worker has then
 * ended. The parser gets files that others wrote, so it must not act on them.
 */
export async function parseInWorker<Result>(
  module: URL,
  input: unknown,
  { limits, signal }: ParseOptions = {},
): Promise<Result> {
  signal?.throwIfAborted();
  const { timeoutMs, memoryMb } = { ...defaultParseLimits, ...limits };
  const job: ParseJob = { module: module.href, input };
  const worker = new Worker(new URL("parse-worker.ts", import.meta.url), {
    workerData: job,
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 32 },
  });
  worker.stdout.resume();
  worker.stderr.resume();
  const memoryError = new AgentError("file_limit", `Reading it takes more than ${memoryMb} MB of memory.`);
  const ended = Promise.withResolvers<Result>();
  worker.on("message", (message: ParseMessage & { readonly result: Result }) => {
    if ("error" in message) ended.reject(new AgentError("file_invalid", String(message.error)));
    else ended.resolve(message.result);
  });
  worker.on("error", (error: Error & { readonly code?: string }) => {
    const isMemory = error.code === "ERR_WORKER_OUT_OF_MEMORY";
    ended.reject(isMemory ? memoryError : new AgentError("file_invalid", error.message, { cause: error }));
  });
  worker.on("exit", () => ended.reject(new AgentError("file_invalid", "The parser ended without a result.")));
  const timer = setTimeout(
    () => ended.reject(new AgentError("file_limit", `Reading it takes longer than ${timeoutMs / 1000} s.`)),
    timeoutMs,
  );
  // The limits of a worker do not count buffers.
  const memoryTimer = setInterval(async () => {
    const heap = await worker.getHeapStatistics().catch(() => undefined); // it has ended
    if (heap && heap.external_memory > memoryMb * 1_000_000) ended.reject(memoryError);
  }, memoryCheckMs);
  const onAbort = () => ended.reject(signal?.reason);
  signal?.addEventListener("abort", onAbort);
  try {
    return await ended.promise;
  } finally {
    clearTimeout(timer);
    clearInterval(memoryTimer);
    signal?.removeEventListener("abort", onAbort);
    await worker.terminate();
  }
}
