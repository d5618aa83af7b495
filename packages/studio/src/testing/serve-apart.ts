import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** What `served.ts` is told. */
export type ServeOrder = { readonly file: string; readonly port: number };

/** A server in a process of its own. */
export type Apart = {
  readonly url: string;
  /** At once, as when its machine loses power. */
  kill(): Promise<void>;
};

const program = join(import.meta.dirname, "served.ts");
const compiled = join(import.meta.dirname, "../../../../node_modules/.cache/capstan-servers");

/** Starts a server on a file, and resolves when it listens. It ends with this process. */
export async function serveApart(order: ServeOrder): Promise<Apart> {
  const flags = ["--conditions=capstan-source", "--disable-warning=ExperimentalWarning"];
  const child = spawn(process.execPath, [...flags, program, JSON.stringify(order)], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, NODE_COMPILE_CACHE: compiled, NODE_OPTIONS: "" },
  });
  child.stdin.on("error", () => undefined); // it was killed
  const ended = once(child, "exit");
  const line = once(createInterface(child.stdout), "line").then(([text]) => String(text));
  const url = await Promise.race([line, ended.then(([code]) => `ended with ${code}`)]);
  if (!url.startsWith("http")) throw new Error(`The server has ${url}.`);
  return {
    url,
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
