import { spawnSync } from "node:child_process";
import { existsSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { AgentError } from "capstan";
import { isWithin } from "../files/parse-path.ts";
import { buildBubblewrapArguments, findPlace, type SandboxOptions } from "./bubblewrap.ts";
import { protectRoots } from "./protect-roots.ts";
import { runInTurn } from "./run-in-turn.ts";
import { fromBytes, toBytes } from "./walk-tree.ts";

/** How commands are confined. */
export type SandboxReport =
  | { readonly type: "bubblewrap"; readonly network: boolean }
  /** Commands run with the rights of this process. */
  | { readonly type: "none"; readonly reason: string };

export type Sandbox = {
  readonly report: SandboxReport;
  /**
   * Runs one command with the arguments of `bwrap`, separated by NUL, and disarms the repositories that the command has
   * created: `disarmed` has their new paths. Commands of one folder run one after the other. Absent without a sandbox.
   */
  confine?<T extends object>(
    run: (args: Buffer) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T & { readonly disarmed: readonly string[] }>;
};

type SandboxSetting = "auto" | "required" | "off" | SandboxOptions;

/** Finds a sandbox that works on this machine, by running a command in it. Throws `sandbox_unavailable` if one is required. */
export function openSandbox(cwd: string, setting: SandboxSetting): Sandbox {
  if (setting === "off") return withoutSandbox("it is turned off");
  const { mode, ...options } =
    typeof setting === "object" ? { mode: "required", ...setting } : { mode: setting };
  const { network = false } = options as SandboxOptions;
  const shared = buildBubblewrapArguments({ ...options, cwd });
  const problem = checkFolder(cwd) ?? probe(shared);
  if (problem !== undefined && mode === "required") {
    const advice = 'Install bubblewrap (bwrap), allow user namespaces, or set `sandbox: "off"`';
    throw new AgentError("sandbox_unavailable", `shellTool needs a sandbox, but ${problem}. ${advice}.`);
  }
  if (problem !== undefined) return withoutSandbox(problem);
  const { writable = [] } = options as SandboxOptions;
  const roots = [cwd, ...writable.filter(isFolder).map((path) => findPlace(path, cwd))];
  const realRoots = roots.map((root) => realpathSync(root));
  return {
    report: { type: "bubblewrap", network },
    confine: (run, signal) => runInTurn(realRoots, signal, () => runProtected(roots, shared, run)),
  };
}

async function runProtected<T extends object>(
  roots: readonly string[],
  shared: readonly string[],
  run: (args: Buffer) => Promise<T>,
): Promise<T & { readonly disarmed: readonly string[] }> {
  const dataFolder = findDataFolder(roots);
  const { args, finish } = await protectRoots({ roots: roots.map(toBytes), dataFolder });
  const all = [...shared.map(toBytes), ...args, "--remount-ro", "/"];
  const [outcome] = await Promise.allSettled([run(fromBytes(all.map((one) => `${one}\0`).join("")))]);
  const disarmed = await finish();
  if (outcome.status === "rejected") throw outcome.reason;
  return { ...outcome.value, disarmed };
}

/** Returns the byte path of Capstan's data if commands would see it. */
function findDataFolder(roots: readonly string[]): string | undefined {
  const folder = process.env.CAPSTAN_HOME;
  if (folder === undefined || !isFolder(folder)) return undefined;
  const target = realpathSync(folder);
  return roots.some((root) => root !== target && isWithin(target, root)) ? toBytes(target) : undefined;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function withoutSandbox(reason: string): Sandbox {
  return { report: { type: "none", reason } };
}

/** A sandbox whose writable folder contains the home folder would hide nothing. */
function checkFolder(cwd: string): string | undefined {
  const home = homedir();
  return existsSync(home) && isWithin(realpathSync(home), cwd)
    ? `the folder ${JSON.stringify(cwd)} contains the home folder`
    : undefined;
}

function probe(shared: readonly string[]): string | undefined {
  if (process.platform !== "linux") return `there is none for ${process.platform}`;
  const { error, status, stderr } = spawnSync(
    "bwrap",
    [...shared, "--remount-ro", "/", "--", "/bin/sh", "-c", ":"],
    {
      ...{
        stdio: ["ignore", "ignore", "pipe"],
        encoding: "utf8",
        timeout: 10_000,
        env: { PATH: process.env.PATH },
      },
    },
  );
  if (error)
    return "code" in error && error.code === "ENOENT" ? "bwrap is not installed" : "bwrap did not start";
  const [line = ""] = stderr.split("\n");
  return status === 0 ? undefined : `bwrap does not work here (${line.slice(0, 200)})`;
}
