// Redis and NATS servers for tests, where their programs are installed.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { findFreePort } from "../find-free-port.ts";

/** A server on a free local port. It stores nothing. */
export type BusServer = { readonly port: number; stop(): Promise<void>; restart(): Promise<void> };

/** Whether the program is installed. */
export function hasProgram(name: "redis-server" | "nats-server"): boolean {
  return spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0;
}

export const startRedis = (): Promise<BusServer> =>
  startBus("redis-server", (port) => [
    ...["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"],
  ]);

export const startNats = (): Promise<BusServer> =>
  startBus("nats-server", (port) => ["--addr", "127.0.0.1", "--port", `${port}`]);

async function startBus(
  program: string,
  buildFlags: (port: number) => readonly string[],
): Promise<BusServer> {
  const port = await findFreePort();
  let child = await startProcess(program, buildFlags(port));
  async function stop(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
  }
  return {
    port,
    stop,
    async restart() {
      await stop();
      child = await startProcess(program, buildFlags(port));
    },
  };
}

/** Resolves when the server says that it is ready. */
async function startProcess(program: string, flags: readonly string[]): Promise<ChildProcess> {
  const child = spawn(program, flags, { stdio: ["ignore", "pipe", "pipe"], cwd: "/" });
  let log = "";
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (text: Buffer) => {
        log = `${log}${text}`.slice(-4_000);
        if (/ready to accept connections|Server is ready/i.test(log)) resolve();
      });
    child.once("exit", () => reject(new Error(`${program} exited:\n${log}`)));
    child.once("error", reject);
  });
  return child;
}
