import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { WorkerCosts, WorkerMessage, WorkerOrder } from "./engine-worker.ts";

export type EndedRun = Extract<WorkerMessage, { type: "ended" }>;

/** A worker process. */
export type Worker = {
  readonly child: ChildProcess;
  readonly port: number;
  readCosts(): Promise<WorkerCosts>;
};

export async function startWorkers(
  { workers, ...order }: WorkerOrder & { readonly workers: number },
  onEnd: (run: EndedRun) => void,
): Promise<readonly Worker[]> {
  const started: Worker[] = [];
  // One after the other, because the first one creates the tables.
  for (let index = 0; index < workers; index++) started.push(await startWorker(order, onEnd));
  return started;
}

const closeTimeoutMs = 60_000;

async function startWorker(order: WorkerOrder, onEnd: (run: EndedRun) => void): Promise<Worker> {
  const child = fork(join(import.meta.dirname, "engine-worker.ts"), [JSON.stringify(order)], {
    execArgv: ["--conditions=capstan-source", "--disable-warning=ExperimentalWarning"],
  });
  const receive = <Type extends WorkerMessage["type"]>(type: Type) =>
    new Promise<Extract<WorkerMessage, { type: Type }>>((resolve, reject) => {
      const listener = (message: WorkerMessage) => {
        if (message.type !== type) return;
        child.off("message", listener);
        resolve(message as Extract<WorkerMessage, { type: Type }>);
      };
      child.on("message", listener);
      child.once("exit", (code) => reject(new Error(`A worker exited with ${code}.`)));
    });
  child.on("message", (message: WorkerMessage) => {
    if (message.type === "ended") onEnd(message);
  });
  const { port = 0 } = await receive("ready");
  return {
    ...{ child, port },
    async readCosts() {
      const reply = receive("costs");
      child.send("costs");
      return (await reply).costs;
    },
  };
}

export async function closeWorkers(workers: readonly Worker[]): Promise<void> {
  await Promise.all(
    workers.map(async ({ child }) => {
      const exited = new Promise((resolve) => child.once("exit", resolve));
      child.send("close");
      await Promise.race([exited, pause(closeTimeoutMs, undefined, { ref: false })]);
    }),
  );
}
