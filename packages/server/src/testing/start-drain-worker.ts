import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** What `drain-worker.ts` is told. */
export type ServeOrder = {
  readonly file: string;
  readonly patienceMs: number;
  readonly stepMs: number;
  /** A file: no step ends before it exists. */
  readonly waitFor?: string;
};

/** A server in a process of its own. */
export type Apart = {
  readonly url: string;
  readonly child: ChildProcess;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
};

const program = join(import.meta.dirname, "drain-worker.ts");
const compiled = join(import.meta.dirname, "../../../../node_modules/.cache/capstan-workers");

export type ApartOptions = {
  /** For Node. */
  readonly flags?: readonly string[];
  /** How many files it may have open. */
  readonly files?: number;
};

/** Starts a server on a file, and resolves when it listens. */
export async function serveApart(order: ServeOrder, options: ApartOptions = {}): Promise<Apart> {
  const { flags = [], files = 1024 } = options;
  const fixed = ["--conditions=capstan-source", "--disable-warning=ExperimentalWarning"];
  const node = [process.execPath, ...fixed, ...flags, program, JSON.stringify(order)];
  const child = spawn("sh", ["-c", `ulimit -n ${files} && exec "$@"`, "sh", ...node], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, NODE_COMPILE_CACHE: compiled, NODE_OPTIONS: "" },
  });
  const ended = once(child, "exit").then(([code, signal]): number | string => code ?? signal);
  const lines = createInterface(child.stdout);
  const url = await Promise.race([once(lines, "line").then(([line]) => String(line)), ended]);
  if (typeof url !== "string" || !url.startsWith("http")) throw new Error(`The server ended with ${url}.`);
  return { url, child, ended };
}
