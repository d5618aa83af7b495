// Runs commands as a container runtime or systemd would, with bubblewrap: a separate, read-only file system
// but for the given folders, another user, no capabilities and no way to gain any.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { promisify } from "node:util";

export type Sandbox = {
  /** Folder that becomes `/`. */
  readonly root: string;
  /** Where commands start. */
  readonly workingFolder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly uid: number;
  readonly gid: number;
  /** Paths in the sandbox, and the files or folders there. */
  readonly readOnly?: Readonly<Record<string, string>>;
  readonly writable?: Readonly<Record<string, string>>;
  readonly temporary?: readonly string[];
};

/** Where Node is in the images and on most machines. */
const nodePaths = ["/usr/local/bin/node", "/usr/bin/node"];
const libraries = ["/usr/lib", "/lib", "/lib64"];

/** Builds the arguments of bubblewrap, which would create folders for mounts that only root can enter. */
function buildFlags(sandbox: Sandbox): string[] {
  const { root, workingFolder, env, uid, gid } = sandbox;
  const bind = (flag: string, paths: Readonly<Record<string, string>> = {}) =>
    Object.entries(paths).flatMap(([path, source]) => [flag, source, path]);
  const node = Object.fromEntries(nodePaths.map((path) => [path, process.execPath]));
  const system = Object.fromEntries([...libraries, "/usr/bin/setpriv"].map((path) => [path, path]));
  for (const path of Object.keys({ ...system, ...node, ...sandbox.readOnly, ...sandbox.writable }))
    mkdirSync(join(root, dirname(path)), { recursive: true });
  // Bubblewrap itself keeps the rights to change the user, which the last program gives up.
  const rights = ["SETUID", "SETGID", "SETPCAP"].flatMap((right) => ["--cap-add", `CAP_${right}`]);
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--no-new-privs"];
  return [
    ...["--bind", root, "/", ...bind("--ro-bind", system), ...bind("--ro-bind", node)],
    ...[...bind("--ro-bind", sandbox.readOnly), ...bind("--bind", sandbox.writable)],
    ...["--proc", "/proc", "--dev", "/dev"],
    ...(sandbox.temporary ?? []).flatMap((path) => ["--perms", "1777", "--tmpfs", path]),
    ...["--remount-ro", "/", "--chdir", workingFolder, "--unshare-pid", "--as-pid-1", "--unshare-ipc"],
    ...["--unshare-uts", "--die-with-parent", "--new-session", "--cap-drop", "ALL", ...rights, "--clearenv"],
    ...Object.entries({ PATH: "/usr/local/bin:/usr/bin", ...env }).flatMap((pair) => ["--setenv", ...pair]),
    ...["--", "/usr/bin/setpriv", ...identity, "--bounding-set=-all", "--inh-caps=-all"],
  ];
}

/** Runs a command until it ends. Rejects if it fails. */
export async function runInSandbox(sandbox: Sandbox, command: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)("bwrap", [...buildFlags(sandbox), ...command]);
  return stdout;
}

/** A process in a sandbox, where it has the number 1, as in a container. */
export interface SandboxedProcess {
  output(): string;
  /** Resolves with the exit code; null after a signal. */
  readonly exit: Promise<number | null>;
  /** Sends SIGTERM, and SIGKILL when the grace period is over. Resolves with the exit code. */
  stop(graceSeconds: number): Promise<number | null>;
  kill(): void;
}

export async function startInSandbox(
  sandbox: Sandbox,
  command: readonly string[],
): Promise<SandboxedProcess> {
  const statusFlags = ["--json-status-fd", "3"];
  const child: ChildProcess = spawn("bwrap", [...statusFlags, ...buildFlags(sandbox), ...command], {
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const exit = new Promise<number | null>((resolve) => child.on("close", resolve));
  const pid = await readChildId(child.stdio[3] as Readable, () => output);
  return {
    output: () => output,
    exit,
    async stop(graceSeconds) {
      process.kill(pid, "SIGTERM");
      const timer = setTimeout(() => process.kill(pid, "SIGKILL"), graceSeconds * 1000);
      const code = await exit;
      clearTimeout(timer);
      return code;
    },
    kill: () => child.kill("SIGKILL"),
  };
}

/** Keeps reading: bubblewrap also writes the end of the command, and fails when its output is not read. */
function readChildId(status: Readable, getOutput: () => string): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = "";
    status.on("data", (part) => {
      text += part;
      const [, id] = /"child-pid": (\d+)/.exec(text) ?? [];
      if (id !== undefined) resolve(Number(id));
    });
    status.on("end", () => reject(new Error(`Bubblewrap did not start the command: ${getOutput()}`)));
  });
}

/** Runs a line of a container file as root, in a root folder that is writable. The cache of npm is at `/tmp/npm`. */
export async function runBuildCommand(
  line: string,
  {
    root,
    workingFolder,
    env,
    cache,
  }: Pick<Sandbox, "root" | "workingFolder" | "env"> & { readonly cache: string },
): Promise<void> {
  for (const name of ["tmp", "proc", "dev"]) mkdirSync(join(root, name), { recursive: true });
  const paths = ["/usr", "/bin", "/lib", "/lib64"].flatMap((path) => ["--ro-bind", path, path]);
  const variables = Object.entries(env).flatMap((pair) => ["--setenv", ...pair]);
  await promisify(execFile)("bwrap", [
    ...["--bind", root, "/", ...paths, "--ro-bind", process.execPath, "/opt/node/bin/node"],
    ...["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--bind", cache, "/tmp/npm"],
    ...["--chdir", workingFolder, "--clearenv", "--setenv", "npm_config_cache", "/tmp/npm"],
    ...[
      "--setenv",
      "PATH",
      "/opt/node/bin:/usr/bin:/bin",
      "--setenv",
      "HOME",
      "/tmp",
      ...variables,
      "--cap-add",
      "ALL",
    ],
    ...["--die-with-parent", "--", "/bin/sh", "-c", line],
  ]);
}
