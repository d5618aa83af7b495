import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json, ToolReturn } from "capstan";
import { type ShellTool, type ShellToolOptions, shellTool } from "../../shell-tool.ts";

export const canary = "CANARY-outside-the-folder";

/** Whether bubblewrap works on this machine. */
export const hasBubblewrap: boolean =
  spawnSync("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "--", "/bin/sh", "-c", ":"]).status === 0;

export type ShellCallOptions = {
  readonly signal?: AbortSignal;
  progress?(data: Json): void;
};

/** A working folder, and next to it a folder with a secret. */
export type TemporaryShell = {
  readonly cwd: string;
  readonly outside: string;
  readonly tool: ShellTool;
  call(input: object, context?: ShellCallOptions): Promise<ToolReturn>;
  /** Runs a script and returns its output, with the first line about the exit. */
  script(script: string): Promise<string>;
  remove(): void;
};

export function createTemporaryShell(options: Omit<ShellToolOptions, "cwd"> = {}): TemporaryShell {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "capstan-shell-test-")));
  const [cwd, outside] = [join(base, "project"), join(base, "outside")];
  for (const folder of [cwd, outside]) mkdirSync(folder);
  writeFileSync(join(outside, "secret.txt"), canary);
  const tool = shellTool({ cwd, ...options });
  return {
    cwd,
    outside,
    tool,
    call: (input, context) => callShell(tool, input, context),
    script: async (script) => String((await callShell(tool, { script })).content),
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}

export async function callShell(
  tool: ShellTool,
  input: object,
  { signal = new AbortController().signal, progress = () => undefined }: ShellCallOptions = {},
): Promise<ToolReturn> {
  const checked = await tool.schema.validate(input);
  if (!checked.valid) throw new Error(checked.issues.join("; "));
  const context = {
    ...{ signal, progress, answers: [], context: undefined },
    readBlob: async () => undefined,
  };
  const ids = { runId: "r", sessionId: "s", callId: "c", idempotencyKey: "k" };
  return (await tool.execute?.(checked.value, { ...context, ...ids })) as ToolReturn;
}

/** Returns the processes of this machine whose command line contains the text. */
export function findProcesses(text: string): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, "utf8").includes(text);
      } catch {
        return false; // it has ended
      }
    });
}
