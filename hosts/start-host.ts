import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";

/** A program that listens on the port in `PORT`. */
export type HostCommand = {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
};

export type BuildCommand = (port: number) => HostCommand | Promise<HostCommand>;

export type StartedHost = { readonly url: string; stop(): Promise<void> };

/** Starts a host and waits until its health check succeeds. Rejects with its output if it exits before. */
export async function startHost(build: BuildCommand): Promise<StartedHost> {
  const port = await findFreePort();
  const { program, args, cwd = import.meta.dirname, env } = await build(port);
  const child = spawn(program, args, { cwd, env: { ...process.env, PORT: `${port}`, ...env } });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      output += chunk;
    });
  const exited = once(child, "exit");
  const url = `http://127.0.0.1:${port}`;
  while (!(await isHealthy(url))) {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}: ${output}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { url, stop: () => stop(child, exited) };
}

async function stop(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  child.kill("SIGKILL");
  await exited;
}

async function isHealthy(url: string): Promise<boolean> {
  return fetch(`${url}/agents/api/health`).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as { readonly port: number };
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** Runs a file of this folder with Node, from the sources of the workspace. */
export function nodeCommand(file: string): HostCommand {
  const args = ["--conditions=capstan-source", join(import.meta.dirname, file)];
  return { program: process.execPath, args };
}
