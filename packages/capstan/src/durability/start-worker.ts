import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { WorkerNews, WorkerOrder, WorkerRequest } from "./worker.ts";

/** How a process ended. */
export type Exit = { readonly code: number | null; readonly signal: string | null; readonly errors: string };

/** A worker in a process of its own. */
export interface Worker {
  readonly order: WorkerOrder;
  /** Resolves when it is at work, or has ended before it was. */
  readonly ready: Promise<void>;
  readonly ended: Promise<Exit>;
  isReady(): boolean;
  start(request: WorkerRequest): void;
  /** Resolves with the first news of this type about the run, also when it has been said already. */
  said<Type extends "stored" | "rested" | "refused">(
    type: Type,
    runId: string,
  ): Promise<Extract<WorkerNews, { type: Type }>>;
  signal(name: "SIGKILL" | "SIGTERM" | "SIGSTOP" | "SIGCONT"): void;
}

const program = join(import.meta.dirname, "worker.ts");

// What Node has compiled, so that later ones start faster. It is written when a process leaves in peace.
const compiled = join(import.meta.dirname, "../../../../node_modules/.cache/capstan-workers");

/** Starts a worker; `hear` is told all that it says. */
export function startWorker(order: WorkerOrder, hear?: (news: WorkerNews) => void): Worker {
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", program, JSON.stringify(order)],
    {
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, NODE_COMPILE_CACHE: compiled, NODE_OPTIONS: "" },
    },
  );
  const heard: WorkerNews[] = [];
  const listeners = new Set<(news: WorkerNews) => void>();
  const ready = Promise.withResolvers<void>();
  let isReady = false;
  let errors = "";
  child.stderr.on("data", (text: Buffer) => {
    errors = `${errors}${text}`.slice(-4_000);
  });
  child.stdin.on("error", () => undefined); // it was killed
  createInterface(child.stdout).on("line", (line) => {
    const news: WorkerNews = JSON.parse(line);
    heard.push(news);
    if (news.type === "ready") {
      isReady = true;
      ready.resolve();
    }
    hear?.(news);
    for (const listener of listeners) listener(news);
  });
  const ended = new Promise<Exit>((resolve) => {
    child.once("close", (code, signal) => {
      isReady = false;
      ready.resolve();
      resolve({ code, signal, errors });
    });
  });
  return {
    order,
    ready: ready.promise,
    ended,
    isReady: () => isReady,
    start: (request) => void child.stdin.write(`${JSON.stringify(request)}\n`),
    said: (type, runId) =>
      new Promise((resolve) => {
        const look = (news: WorkerNews) => {
          if (news.type !== type || !("runId" in news) || news.runId !== runId) return;
          listeners.delete(look);
          resolve(news as Extract<WorkerNews, { type: typeof type }>);
        };
        listeners.add(look);
        heard.forEach(look);
      }),
    signal: (name) => void child.kill(name),
  };
}
