import { spawnSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { AgentError } from "capstan";
import { isWithin } from "../files/parse-path.ts";
import { buildBubblewrapArguments, hideSecrets, type SandboxOptions } from "./bubblewrap.ts";

/** How commands are confined. */
export type SandboxReport =
  | { readonly type: "bubblewrap"; readonly network: boolean }
  /** Commands run with the rights of this process. */
  | { readonly type: "none"; readonly reason: string };

export type Sandbox = {
  readonly report: SandboxReport;
  /** Returns the arguments of `bwrap` for one command; absent without a sandbox. */
  prepare?(): Promise<readonly string[]>;
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
  const dataFolder = process.env.CAPSTAN_HOME;
  return {
    report: { type: "bubblewrap", network },
    prepare: async () => [...shared, ...(await hideSecrets(cwd, dataFolder)), "--remount-ro", "/"],
  };
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
