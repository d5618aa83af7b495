import type { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";

export type ProcessUsage = { readonly processes: number; readonly bytes: number };

/** All processes of one command, including detached ones. */
export interface ProcessTree {
  /** Undefined where the processes cannot be counted. */
  measure(): ProcessUsage | undefined;
  /** Ends the processes that there are. */
  kill(): void;
  /** Resolves when no process is left, after the command itself has ended. */
  settle(): Promise<void>;
}

const pageBytes = 4096;

/**
 * The processes of a sandbox with its own PID namespace: the kernel ends all of them with the first one, whose number
 * bwrap writes to `info` (`{ "child-pid": 123 }`) as soon as that process exists.
 */
export function createNamespaceTree(child: ChildProcess, info: Readable): ProcessTree {
  let text = "";
  let initPid: number | undefined;
  let isKilled = false;
  info.on("data", (chunk) => {
    text += String(chunk);
    initPid ??= Number(/"child-pid":\s*(\d+)/.exec(text)?.[1]) || undefined;
    if (isKilled) kill();
  });
  // The sandbox ends with bwrap only once it is set up: without bwrap, one that is not would run on.
  function kill() {
    isKilled = true;
    if (initPid === undefined) return;
    if (isChildOf(initPid, child)) killProcess(initPid);
    child.kill("SIGKILL");
  }
  return {
    measure: () =>
      initPid === undefined || isOwnNamespace(initPid)
        ? undefined
        : measureProcesses(`/proc/${initPid}/root/proc`),
    kill,
    settle: async () => undefined,
  };
}

/** Whether the number still belongs to the sandbox: the system gives the number of a process that has ended to another. */
function isChildOf(pid: number, { pid: parent }: ChildProcess): boolean {
  const [, parentPid] = /\nPPid:\t(\d+)/.exec(tryReadFile(`/proc/${pid}/status`)) ?? [];
  return Number(parentPid) === parent;
}

/** Whether the process lists are those of this machine: a sandbox that is not set up has no other. */
function isOwnNamespace(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/root/proc/self`) !== "";
  } catch {
    return false; // this process is not in the list
  }
}

/**
 * The processes of a command without a sandbox: its process group, and on Linux every process with this variable in its
 * environment, which children inherit. A process that clears its environment and leaves the group is missed.
 */
export function createMarkedTree({ pid }: ChildProcess, variable: string): ProcessTree {
  const isMarked = (process: string) =>
    tryReadFile(`/proc/${process}/environ`).split("\0").includes(variable);
  function kill(): boolean {
    if (pid !== undefined) killProcess(-pid);
    const processes = listProcesses("/proc").filter(isMarked);
    for (const process of processes) killProcess(Number(process));
    return processes.length > 0;
  }
  return {
    measure: () => measureProcesses("/proc", isMarked),
    kill: () => void kill(),
    async settle() {
      // A process has no environment for the moment in which it starts a program, and may have just started another one.
      for (let clean = 0, round = 0; clean < 3 && round < 500; round++) {
        clean = kill() ? 0 : clean + 1;
        await setTimeout(10);
      }
    },
  };
}

function measureProcesses(
  folder: string,
  isCounted: (process: string) => boolean = () => true,
): ProcessUsage | undefined {
  const processes = listProcesses(folder).filter(isCounted);
  if (processes.length === 0) return undefined;
  const pages = processes.map((process) =>
    Number(tryReadFile(`${folder}/${process}/statm`).split(" ")[1] ?? 0),
  );
  return { processes: processes.length, bytes: pages.reduce((sum, count) => sum + count, 0) * pageBytes };
}

function listProcesses(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => /^\d+$/.test(name));
  } catch {
    return []; // not Linux, or the process has ended
  }
}

/** Returns an empty text for a process that has ended or belongs to another user. */
function tryReadFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}
