// CPU time of this process's descendants, from /proc: servers that the benchmark starts, whose process ids it does not know.
import { readdirSync, readFileSync } from "node:fs";

type ProcessStat = {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
  readonly cpuMs: number;
};

const msPerTick = 10; // USER_HZ is 100 on all Linux systems

/** Sums the CPU time of the descendants with this name, including children that have exited. In milliseconds. */
export function readServerCpuMs(name: string): number {
  const all = listProcesses();
  const parents = new Map(all.map(({ pid, parent }) => [pid, parent]));
  const isOwn = (pid: number): boolean => pid === process.pid || isOwnParent(parents.get(pid));
  const isOwnParent = (parent: number | undefined) => parent !== undefined && parent > 1 && isOwn(parent);
  return all
    .filter((stat) => stat.name === name && isOwn(stat.pid))
    .reduce((sum, { cpuMs }) => sum + cpuMs, 0);
}

function listProcesses(): readonly ProcessStat[] {
  const pids = readdirSync("/proc").filter((entry) => /^\d+$/.test(entry));
  return pids.flatMap((pid) => {
    try {
      return [parseStat(readFileSync(`/proc/${pid}/stat`, "utf8"))];
    } catch {
      return []; // it has exited
    }
  });
}

/** Parses a line of /proc/<pid>/stat. The name is in parentheses and may contain spaces. */
export function parseStat(line: string): ProcessStat {
  const end = line.lastIndexOf(")");
  const fields = line
    .slice(end + 2)
    .split(" ")
    .map(Number);
  // After the name: state, parent, …, and as 12th to 15th utime, stime, and those of children that have exited.
  const ticks = fields.slice(11, 15).reduce((sum, value) => sum + value, 0);
  return {
    pid: Number.parseInt(line, 10),
    parent: fields[1] ?? 0,
    name: line.slice(line.indexOf("(") + 1, end),
    cpuMs: ticks * msPerTick,
  };
}
