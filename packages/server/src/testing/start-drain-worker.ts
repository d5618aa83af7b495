import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { buildProgramArguments } from "@capstan/verification/program-arguments";

/** Arguments of `drain-worker.ts`. */
export type DrainOrder = {
  readonly file: string;
  readonly patienceMs: number;
  readonly stepMs: number;
  /** File that must exist before a step ends. */
  readonly waitFor?: string;
};

/** A server in a child process. */
export type DrainWorker = {
  readonly url: string;
  readonly child: ChildProcess;
  /** Exit code or signal. */
  readonly ended: Promise<number | string>;
};

const program = join(import.meta.dirname, "drain-worker.ts");
const compiled = join(import.meta.dirname, "../../../../node_modules/.cache/compile");

export type DrainWorkerOptions = {
  /** Flags for Node. */
  readonly flags?: readonly string[];
  /** Max number of open files. */
  readonly files?: number;
};

/** Starts a server on a database file; resolves when it listens. */
export async function startDrainWorker(
  order: DrainOrder,
  options: DrainWorkerOptions = {},
): Promise<DrainWorker> {
  const { flags = [], files = 1024 } = options;
  const node = [process.execPath, ...flags, ...buildProgramArguments(program), JSON.stringify(order)];
  const child = spawn("sh", ["-c", `ulimit -n ${files} && exec "$@"`, "sh", ...node], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, NODE_COMPILE_CACHE: compiled, NODE_OPTIONS: "" },
  });
  const ended = once(child, "exit").then(([code, signal]): number | string => code ?? signal);
  const lines = createInterface(child.stdout);
  const url = await Promise.race([once(lines, "line").then(([line]) => String(line)), ended]);
  if (typeof url !== "string" || !url.startsWith("http")) throw new Error(`The server exited with ${url}.`);
  return { url, child, ended };
}
