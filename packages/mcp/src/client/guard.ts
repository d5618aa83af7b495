// A small process between us and a stdio server. It starts the server as the head of a process group of its own and ends
// the whole group when its lifeline closes: when we say so, and also when we are killed and can say nothing. The server
// reads and writes our pipes directly; nothing passes through here.
import { spawn } from "node:child_process";
import { Socket } from "node:net";

const graceMs = 2_000;

function guard(command: string, args: readonly string[]): void {
  const lifeline = new Socket({ fd: 3, readable: true, writable: true });
  const tell = (line: string) => lifeline.write(`${line.replaceAll("\n", " ")}\n`);
  const child = spawn(command, args, { stdio: "inherit", detached: true, windowsHide: true });
  child.on("error", (error) => {
    tell(`failed ${error.message}`);
    process.exit(127);
  });
  child.on("spawn", () => tell(`started ${child.pid}`));
  child.on("exit", (code, signal) => {
    // What the server has left behind ends with it.
    signalGroup(child.pid, "SIGKILL");
    tell(`ended ${signal ?? `with code ${code}`}`);
    process.exit(code ?? 1);
  });
  const end = () => {
    signalGroup(child.pid, "SIGTERM");
    setTimeout(() => signalGroup(child.pid, "SIGKILL"), graceMs);
  };
  lifeline.resume().on("end", end).on("error", end);
  process.on("SIGTERM", end);
  // Ctrl-C in a terminal is said to us, who may go on.
  for (const signal of ["SIGINT", "SIGHUP"] as const) process.on(signal, () => undefined);
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // There is nobody left.
  }
}

const [command, ...args] = process.argv.slice(2);
if (command !== undefined) guard(command, args);
