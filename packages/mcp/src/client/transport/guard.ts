// A small process between us and a stdio server. It starts the server in its own process group and kills the whole group
// when its lifeline closes: on our request, or because this process was killed. The server uses our pipes directly; no
// data passes through the guard.
import { spawn } from "node:child_process";
import { Socket } from "node:net";
import { setTimeout } from "node:timers/promises";

const graceMs = 2_000;
/** Killed processes exit within milliseconds; a process that is never reaped must not delay us for longer. */
const maxKillMs = 500;

function runGuarded(command: string, args: readonly string[]): void {
  const lifeline = new Socket({ fd: 3, readable: true, writable: true });
  const report = (line: string) => lifeline.write(`${line.replaceAll("\n", " ")}\n`);
  const child = spawn(command, args, { stdio: "inherit", detached: true, windowsHide: true });
  child.on("error", (error) => {
    report(`failed ${error.message}`);
    process.exit(127);
  });
  child.on("spawn", () => report(`started ${child.pid}`));
  child.on("exit", async (code, signal) => {
    // Also kill processes that the server left behind. Our exit tells the parent that none is alive.
    for (let waitedMs = 0; signalGroup(child.pid, "SIGKILL") && waitedMs < maxKillMs; waitedMs += 5)
      await setTimeout(5);
    report(`ended ${signal ?? `with code ${code}`}`);
    process.exit(code ?? 1);
  });
  const terminate = () => {
    signalGroup(child.pid, "SIGTERM");
    void setTimeout(graceMs).then(() => signalGroup(child.pid, "SIGKILL"));
  };
  lifeline.resume().on("end", terminate).on("error", terminate);
  process.on("SIGTERM", terminate);
  // Ctrl-C in a terminal reaches the whole foreground group; our parent decides whether to exit.
  for (const signal of ["SIGINT", "SIGHUP"] as const) process.on(signal, () => undefined);
}

/** Returns whether a process of the group received the signal: false once all of them have exited. */
function signalGroup(pid: number | undefined, signal: NodeJS.Signals): boolean {
  try {
    return pid !== undefined && process.kill(-pid, signal);
  } catch {
    return false;
  }
}

const [command, ...args] = process.argv.slice(2);
if (command !== undefined) runGuarded(command, args);
