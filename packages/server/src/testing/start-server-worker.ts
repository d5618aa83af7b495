import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Reachable, ServeOrder } from "./server-worker.ts";

/** A server in a process of its own. */
export interface ServerProcess extends Reachable {
  /** At once, as when its machine loses power. */
  kill(): Promise<void>;
  /** As whoever looks after it does. */
  stop(): Promise<void>;
}

const program = join(import.meta.dirname, "server-worker.ts");
// What Node has compiled, so that later ones start faster.
const compiled = join(import.meta.dirname, "../../../../node_modules/.cache/capstan-servers");

/** Resolves when it can be reached. */
export async function startServer(order: ServeOrder): Promise<ServerProcess> {
  const child = spawn(
    process.execPath,
    ["--conditions=capstan-source", "--disable-warning=ExperimentalWarning", program, JSON.stringify(order)],
    {
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, NODE_COMPILE_CACHE: compiled, NODE_OPTIONS: "" },
    },
  );
  let errors = "";
  child.stderr.on("data", (text: Buffer) => {
    errors = `${errors}${text}`.slice(-4_000);
  });
  child.stdin.on("error", () => undefined); // it was killed
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const reachable = await new Promise<Reachable>((resolve, reject) => {
    createInterface(child.stdout).once("line", (line) => resolve(JSON.parse(line)));
    child.once("close", () => reject(new Error(`The server has not started:\n${errors}`)));
  });
  const end = (signal: "SIGKILL" | "SIGTERM") => {
    child.kill(signal);
    return ended;
  };
  return { ...reachable, kill: () => end("SIGKILL"), stop: () => end("SIGTERM") };
}
