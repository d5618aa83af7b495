import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { buildProgramArguments } from "@capstan/verification/program-arguments";
import type { ServerAddress, ServerOrder } from "./server-worker.ts";

/** A server in a child process. */
export interface ServerProcess extends ServerAddress {
  /** Kills the process, like a power failure. */
  kill(): Promise<void>;
  /** Shuts the server down with SIGTERM. */
  stop(): Promise<void>;
  /** Stops the process with SIGSTOP, until `resume`. */
  pause(): void;
  resume(): void;
  /** Resolves when the process has ended. */
  readonly exited: Promise<void>;
}

const program = join(import.meta.dirname, "server-worker.ts");
// Node's compile cache, which speeds up later starts.
const compiled = join(import.meta.dirname, "../../../../node_modules/.cache/compile");

/** Resolves when the server listens. */
export async function startServerWorker(order: ServerOrder): Promise<ServerProcess> {
  const child = spawn(process.execPath, [...buildProgramArguments(program), JSON.stringify(order)], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, NODE_COMPILE_CACHE: compiled, NODE_OPTIONS: "" },
  });
  let errors = "";
  child.stderr.on("data", (text: Buffer) => {
    errors = `${errors}${text}`.slice(-4_000);
  });
  child.stdin.on("error", () => undefined); // the process was killed
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const reachable = await new Promise<ServerAddress>((resolve, reject) => {
    createInterface(child.stdout).once("line", (line) => resolve(JSON.parse(line)));
    child.once("close", () => reject(new Error(`The server did not start:\n${errors}`)));
  });
  const stopWith = (signal: "SIGKILL" | "SIGTERM") => {
    child.kill(signal);
    return ended;
  };
  return {
    ...reachable,
    exited: ended,
    kill: () => stopWith("SIGKILL"),
    stop: () => stopWith("SIGTERM"),
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
  };
}
