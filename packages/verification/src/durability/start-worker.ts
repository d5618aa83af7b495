import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { buildProgramArguments } from "../program-arguments.ts";
import type { WorkerOptions, WorkerReport, WorkerRequest } from "./run-engine-worker.ts";

export type ProcessExit = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly errors: string;
};

/** A worker in its own process. */
export interface WorkerProcess {
  readonly options: WorkerOptions;
  /** Resolves when the worker is ready, or when it ended before that. */
  readonly ready: Promise<void>;
  readonly ended: Promise<ProcessExit>;
  isReady(): boolean;
  /** The port at which Restate calls the worker, once it is ready. */
  getPort(): number | undefined;
  start(request: WorkerRequest): void;
  /** Resolves with the first report of this type about the run, including earlier ones. */
  waitForReport<Type extends "stored" | "rested" | "refused">(
    type: Type,
    runId: string,
  ): Promise<Extract<WorkerReport, { type: Type }>>;
  signal(name: "SIGKILL" | "SIGTERM" | "SIGSTOP" | "SIGCONT"): void;
}

const program = join(import.meta.dirname, "local-worker.ts");

// Node's compile cache, which makes later processes start faster. It is written on a clean exit.
const compileCache = join(import.meta.dirname, "../../../../node_modules/.cache/compile");

/** Starts a worker process. `onReport` receives all its reports. */
export function startWorker(
  options: WorkerOptions,
  onReport?: (report: WorkerReport) => void,
): WorkerProcess {
  const child = spawn(
    process.execPath,
    [
      ...(options.heapMb === undefined ? [] : [`--max-old-space-size=${options.heapMb}`]),
      ...(options.preload === undefined ? [] : [`--import=${options.preload}`]),
      ...buildProgramArguments(options.program?.file ?? program, options.preload !== undefined),
      JSON.stringify(options),
    ],
    {
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, NODE_COMPILE_CACHE: compileCache, NODE_OPTIONS: "" },
    },
  );
  const reports: WorkerReport[] = [];
  const listeners = new Set<(report: WorkerReport) => void>();
  const ready = Promise.withResolvers<void>();
  let isReady = false;
  let port: number | undefined;
  let errors = "";
  child.stderr.on("data", (text: Buffer) => {
    errors = `${errors}${text}`.slice(-4_000);
  });
  child.stdin.on("error", () => undefined); // the worker was killed
  createInterface(child.stdout).on("line", (line) => {
    const report: WorkerReport = JSON.parse(line);
    reports.push(report);
    if (report.type === "ready") {
      isReady = true;
      port = report.port;
      ready.resolve();
    }
    onReport?.(report);
    for (const listener of listeners) listener(report);
  });
  const ended = new Promise<ProcessExit>((resolve) => {
    child.once("close", (code, signal) => {
      isReady = false;
      ready.resolve();
      resolve({ code, signal, errors });
    });
  });
  return {
    options,
    ready: ready.promise,
    ended,
    isReady: () => isReady,
    getPort: () => port,
    start: (request) => void child.stdin.write(`${JSON.stringify(request)}\n`),
    waitForReport: (type, runId) =>
      new Promise((resolve) => {
        const listener = (report: WorkerReport) => {
          if (report.type !== type || !("runId" in report) || report.runId !== runId) return;
          listeners.delete(listener);
          resolve(report as Extract<WorkerReport, { type: typeof type }>);
        };
        listeners.add(listener);
        reports.forEach(listener);
      }),
    signal: (name) => void child.kill(name),
  };
}
