import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { constants, release, tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { AgentError } from "capstan";
import { buildEnvironment, type EnvironmentOptions } from "./environment.ts";
import { type CommandOutput, createOutputBuffer } from "./output-buffer.ts";
import { createMarkedTree, createNamespaceTree, type ProcessTree } from "./process-tree.ts";
import type { Sandbox } from "./sandbox.ts";

/** Limits for one command. */
export type ShellLimits = {
  readonly timeMs: number;
  /** Bytes of output that the model gets: half from the start, half from the end. */
  readonly shownBytes: number;
  /** A command that writes more is stopped. */
  readonly outputBytes: number;
  /** Memory of all processes together, and of each single one. */
  readonly memoryMb: number;
  readonly processes: number;
  /** Size of a file that a command writes. */
  readonly fileMb: number;
};

export const defaultShellLimits: ShellLimits = {
  timeMs: 120_000,
  shownBytes: 30_000,
  outputBytes: 50_000_000,
  memoryMb: 4_000,
  processes: 256,
  fileMb: 1_000,
};

export type CommandResult = {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly output: CommandOutput;
  /** The limit that ended the command. */
  readonly stopped?: StopCause;
  /** New paths of the repositories that the command created. */
  readonly disarmed?: readonly string[];
};

type StopCause = "time" | "output" | "memory" | "processes";

export type RunCommandOptions = {
  readonly argv: readonly string[];
  /** Real path of the working folder. */
  readonly folder: string;
  readonly sandbox: Sandbox;
  readonly environment: EnvironmentOptions;
  readonly limits: ShellLimits;
  readonly signal: AbortSignal;
  /** Receives the output while the command runs. */
  onOutput(chunk: Buffer): void;
};

const [major = 0, minor = 0] = release().split(".").map(Number);
const countsByNamespace = major > 5 || (major === 5 && minor >= 14);

/** Both streams in one, in the order of their writes. `ulimit -p` is the name of `-u` in dash. */
function buildWrapper({ memoryMb, fileMb, processes }: ShellLimits, isSandboxed: boolean): string {
  const limits = [
    `ulimit -c 0; ulimit -d ${Math.ceil(memoryMb) * 1024}; ulimit -f ${Math.ceil(fileMb) * 1024 * 2}`,
    // Outside a user namespace, and before Linux 5.14 also in one, the limit would count all processes of the user.
    ...(isSandboxed && countsByNamespace
      ? [`(ulimit -u ${processes}) 2>/dev/null && ulimit -u ${processes} || ulimit -p ${processes}`]
      : []),
  ];
  return `{ ${limits.join("; ")}; } 2>/dev/null; exec "$@" 2>&1`;
}

/**
 * Runs a command until it ends, reaches a limit or is aborted. No process of it survives, also no detached one. Rejects
 * with the reason of the signal if it is aborted.
 */
export async function runCommand(options: RunCommandOptions): Promise<CommandResult> {
  const { argv, folder, sandbox, limits, signal } = options;
  signal.throwIfAborted();
  const wrapped = ["/bin/sh", "-c", buildWrapper(limits, sandbox.confine !== undefined), "sh", ...argv];
  if (sandbox.confine) return sandbox.confine((args) => runConfined(args, wrapped, options), signal);
  const home = await mkdtemp(join(tmpdir(), "capstan-shell-"));
  try {
    const id = crypto.randomUUID();
    const env = { ...buildEnvironment(options.environment, home), CAPSTAN_SHELL: id };
    const [program = "", ...rest] = wrapped;
    const child = spawn(program, rest, {
      ...{ cwd: folder, env, stdio: ["ignore", "pipe", "pipe"], detached: true },
    });
    return await watch(child, createMarkedTree(child, `CAPSTAN_SHELL=${id}`), options);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** The arguments of bwrap are in a pipe, because paths may be more than a command line can hold, and need not be UTF-8. */
function runConfined(
  args: Buffer,
  wrapped: readonly string[],
  options: RunCommandOptions,
): Promise<CommandResult> {
  const own = ["--args", "4", "--chdir", options.folder, "--info-fd", "3", "--", ...wrapped];
  const env = buildEnvironment(options.environment, "/tmp");
  const child = spawn("bwrap", own, { stdio: ["ignore", "pipe", "pipe", "pipe", "pipe"], env });
  // bwrap that ends before it has read them reports why.
  (child.stdio[4] as Writable | null)?.on("error", () => undefined).end(args);
  return watch(child, createNamespaceTree(child, child.stdio[3] as Readable), options);
}

const watchEveryMs = 100;

async function watch(
  child: ChildProcess,
  tree: ProcessTree,
  { limits, signal, onOutput }: RunCommandOptions,
): Promise<CommandResult> {
  const buffer = createOutputBuffer(limits.shownBytes);
  let stopped: StopCause | undefined;
  const stop = (cause?: StopCause) => {
    stopped ??= cause;
    tree.kill();
  };
  const receive = (chunk: Buffer) => {
    if (stopped) return;
    buffer.add(chunk);
    onOutput(chunk);
    if (buffer.bytes > limits.outputBytes) stop("output");
  };
  child.stdout?.on("data", receive);
  // Errors of the sandbox itself: the output of the command is in the other stream.
  child.stderr?.on("data", receive);
  const timer = setTimeout(() => stop("time"), limits.timeMs);
  const watchdog = setInterval(() => {
    const { processes = 0, bytes = 0 } = tree.measure() ?? {};
    if (processes > limits.processes) stop("processes");
    else if (bytes > limits.memoryMb * 1_048_576) stop("memory");
  }, watchEveryMs);
  const abort = () => stop();
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  try {
    const { exitCode, exitSignal } = await waitForEnd(child, tree);
    signal.throwIfAborted();
    return {
      exitCode,
      signal: exitSignal ?? findSignal(exitCode),
      output: buffer.finish(),
      ...(stopped && { stopped }),
    };
  } finally {
    clearTimeout(timer);
    clearInterval(watchdog);
    signal.removeEventListener("abort", abort);
  }
}

/** Shells and bwrap report a program that a signal ended with a code from 129. */
function findSignal(exitCode: number | null): string | null {
  const [name] = Object.entries(constants.signals).find(([, number]) => 128 + number === exitCode) ?? [];
  return name ?? null;
}

type End = { readonly exitCode: number | null; readonly exitSignal: string | null };

/** Waits for the command, ends the processes that it left behind, and then waits for the rest of the output. */
function waitForEnd(child: ChildProcess, tree: ProcessTree): Promise<End> {
  return new Promise((resolve, reject) => {
    child.on("error", (cause) =>
      reject(new AgentError("tool_failed", `The command did not start: ${cause.message}`, { cause })),
    );
    let settled: Promise<void> | undefined;
    child.on("exit", () => {
      settled = tree.settle();
    });
    child.on("close", (exitCode, exitSignal) => {
      void Promise.resolve(settled).then(() => resolve({ exitCode, exitSignal }));
    });
  });
}
