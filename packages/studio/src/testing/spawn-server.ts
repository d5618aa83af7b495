import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** Arguments of `server-process.ts`. */
export type ServeOptions = { readonly file: string; readonly port: number };

/** A server in a child process. */
export type SpawnedServer = {
  readonly url: string;
  /** Kills the process immediately. */
  kill(): Promise<void>;
};

const program = join(import.meta.dirname, "server-process.ts");
const compileCache = join(import.meta.dirname, "../../../../node_modules/.cache/compile");

/** Starts a server on a database file and resolves when it listens. It exits with this process. */
export async function spawnServer(options: ServeOptions): Promise<SpawnedServer> {
  const flags = ["--conditions=capstan-source", "--disable-warning=ExperimentalWarning"];
  const child = spawn(process.execPath, [...flags, program, JSON.stringify(options)], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache, NODE_OPTIONS: "" },
  });
  child.stdin.on("error", () => undefined); // the process was killed
  const exited = once(child, "exit");
  const line = once(createInterface(child.stdout), "line").then(([text]) => String(text));
  const url = await Promise.race([line, exited.then(([code]) => `ended with ${code}`)]);
  if (!url.startsWith("http")) throw new Error(`The server ${url}.`);
  return {
    url,
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
