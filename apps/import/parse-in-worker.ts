import { Worker } from "node:worker_threads";
import { AgentError } from "capstan";

export type ParseLimits = {
  /** For each call. */
  readonly timeoutMs: number;
  /** For the heap of the worker, and again for the buffers outside of it. */
  readonly memoryMb: number;
};

export type ParseOptions = {
  readonly limits?: Partial<ParseLimits>;
  readonly signal?: AbortSignal;
};

export const defaultParseLimits: ParseLimits = { timeoutMs: 30_000, memoryMb: 256 };

/**
 * Calls parsers one after the other, in a worker that has neither the environment nor the console of this process. The
 * worker starts with the first call, ends when it has been idle for a while, and keeps no process alive.
 */
export interface ParserWorker {
  /**
   * Calls `parse(input)` of a module. Input and result are copied; the caller states the type of the result. Rejects with
   * `file_limit` when the call exceeds its time or memory, with `file_invalid` when the parser throws, and with the
   * reason of the signal. A worker that did not finish is replaced for the next call.
   */
  parse<Result>(module: URL, input: unknown, signal?: AbortSignal): Promise<Result>;
  close(): Promise<void>;
}

/** What the worker gets and posts. */
export type ParseJob = { readonly module: string; readonly input: unknown };
export type ParseMessage = { readonly result: unknown } | { readonly error: string };

/** Calls one parser in a worker of its own. */
export async function parseInWorker<Result>(
  module: URL,
  input: unknown,
  { limits, signal }: ParseOptions = {},
): Promise<Result> {
  const worker = createParserWorker(limits);
  return worker.parse<Result>(module, input, signal).finally(() => worker.close());
}

const maxIdleMs = 5000;

export function createParserWorker(limits: Partial<ParseLimits> = {}): ParserWorker {
  const { timeoutMs, memoryMb } = { ...defaultParseLimits, ...limits };
  let current: Worker | undefined;
  let lastCall: Promise<unknown> = Promise.resolve();
  let idleTimer: NodeJS.Timeout | undefined;

  async function close(): Promise<void> {
    clearTimeout(idleTimer);
    const worker = current;
    current = undefined;
    await worker?.terminate();
  }

  async function parse<Result>(job: ParseJob, signal: AbortSignal | undefined): Promise<Result> {
    signal?.throwIfAborted();
    clearTimeout(idleTimer);
    current ??= startWorker(memoryMb);
    const message = await runJob<Result>(current, job, { timeoutMs, memoryMb, signal }).catch(
      (error: unknown) => {
        // Not awaited: the caller has its error, and the next call gets another worker.
        void close();
        throw error;
      },
    );
    idleTimer = setTimeout(close, maxIdleMs).unref();
    if ("result" in message) return message.result;
    throw new AgentError("file_invalid", message.error);
  }

  return {
    close,
    parse<Result>(module: URL, input: unknown, signal?: AbortSignal) {
      const call = lastCall.then(() => parse<Result>({ module: module.href, input }, signal));
      lastCall = call.catch(() => undefined);
      return call;
    },
  };
}

function startWorker(memoryMb: number): Worker {
  const worker = new Worker(new URL("parse-worker.ts", import.meta.url), {
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 32 },
  });
  worker.unref();
  worker.stdout.resume();
  worker.stderr.resume();
  return worker;
}

const memoryCheckMs = 100;

type JobOptions = ParseLimits & { readonly signal: AbortSignal | undefined };

/** Rejects without ending the worker. */
async function runJob<Result>(
  worker: Worker,
  job: ParseJob,
  { timeoutMs, memoryMb, signal }: JobOptions,
): Promise<{ readonly result: Result } | { readonly error: string }> {
  const memoryError = new AgentError("file_limit", `Reading it takes more than ${memoryMb} MB of memory.`);
  const timeError = new AgentError("file_limit", `Reading it takes longer than ${timeoutMs / 1000} s.`);
  const ended = Promise.withResolvers<{ readonly result: Result } | { readonly error: string }>();
  const listeners = new AbortController();
  const addListener = (event: string, listener: (value: unknown) => void) => {
    worker.on(event, listener);
    listeners.signal.addEventListener("abort", () => worker.off(event, listener));
  };
  worker.once("message", ended.resolve);
  addListener("error", (error) => ended.reject(isMemoryError(error) ? memoryError : toFileError(error)));
  addListener("exit", () => ended.reject(toFileError(new Error("The parser ended without a result."))));
  signal?.addEventListener("abort", () => ended.reject(signal.reason), { signal: listeners.signal });
  const timer = setTimeout(() => ended.reject(timeError), timeoutMs);
  // The limits of a worker do not count buffers.
  const memoryTimer = setInterval(async () => {
    const heap = await worker.getHeapStatistics().catch(() => undefined); // it has ended
    if (heap && heap.external_memory > memoryMb * 1_000_000) ended.reject(memoryError);
  }, memoryCheckMs);
  try {
    worker.postMessage(job);
    return await ended.promise;
  } finally {
    clearTimeout(timer);
    clearInterval(memoryTimer);
    listeners.abort();
  }
}

const isMemoryError = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";

const toFileError = (error: unknown): AgentError =>
  new AgentError("file_invalid", error instanceof Error ? error.message : String(error), { cause: error });
