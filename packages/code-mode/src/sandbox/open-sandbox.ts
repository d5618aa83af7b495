import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AgentError, isRecord } from "capstan";
import type { CallReply, Program, ProgramLimits, SandboxReport, SandboxRequest } from "./protocol.ts";

/** A process that executes one program. Each exchange returns how far the program has come. */
export type Sandbox = {
  start(program: Program): Promise<SandboxReport>;
  continue(replies: readonly CallReply[]): Promise<SandboxReport>;
  /** Ends the process. An open exchange returns a failure. */
  close(): void;
};

/** Starting the process says nothing about the program, so it may take long on a busy machine. */
const maxStartMs = 60_000;
/** The interpreter stops a program itself, except inside a long built-in function. */
const computeMaxWaitMs = ({ timeoutMs }: ProgramLimits): number => 1000 + 4 * timeoutMs;

/** Opens a sandbox. An exchange rejects with `sandbox_unavailable` if the process cannot be started. */
export function openSandbox(limits: ProgramLimits): Sandbox {
  const child = spawnSandbox(limits);
  const reports = readReports(child, limits);
  let hasStarted = false;

  async function exchange(request: SandboxRequest): Promise<SandboxReport> {
    child.ref();
    try {
      if (!hasStarted) await reports.next(maxStartMs);
      if (!hasStarted && !reports.isReady()) throw createStartError(reports.getErrors());
      hasStarted = true;
      child.stdin?.write(`${JSON.stringify(request)}\n`);
      return await reports.next(computeMaxWaitMs(limits));
    } finally {
      // A program that waits for its calls does not keep this process alive.
      child.unref();
    }
  }

  return {
    start: (program) => exchange({ type: "start", program, limits }),
    continue: (replies) => exchange({ type: "continue", replies }),
    close: () => void child.kill("SIGKILL"),
  };
}

function createStartError(output: string): AgentError {
  const message = `The process for programs could not be started. Node 22.19 or newer is needed. ${output.trim()}`;
  return new AgentError("sandbox_unavailable", message.trim());
}

type ProcessFlags = {
  readonly flags: readonly string[];
  readonly program: string;
  /** The module of the interpreter, and its WebAssembly. */
  readonly interpreter: readonly [module: string, wasm: string];
};

/** Builds the flags of Node for a process that can read the interpreter, and nothing else. */
export function buildFlags({ memoryMb }: Pick<ProgramLimits, "memoryMb">): ProcessFlags {
  const { resolve } = createRequire(import.meta.url);
  // Bundled builds have the program at another place than the sources.
  const program = import.meta.url.endsWith(".ts")
    ? fileURLToPath(new URL("./sandbox-process.ts", import.meta.url))
    : resolve("@capstan/code-mode/sandbox-process");
  const interpreter = [resolve("quickjs-wasi"), resolve("quickjs-wasi/quickjs.wasm")] as const;
  const [module, wasm] = interpreter;
  const readable = [join(dirname(program), "*"), join(dirname(module), "*"), join(dirname(wasm), "*")];
  const flags = [
    "--permission",
    ...readable.map((path) => `--allow-fs-read=${path}`),
    "--disallow-code-generation-from-strings",
    `--max-old-space-size=${Math.max(32, memoryMb)}`,
  ];
  return { flags, program, interpreter };
}

function spawnSandbox(limits: ProgramLimits): ChildProcess {
  const { flags, program, interpreter } = buildFlags(limits);
  const child = spawn(process.execPath, [...flags, program, ...interpreter], {
    cwd: dirname(program),
    env: {},
    stdio: ["pipe", "pipe", "pipe"],
    windowsHide: true,
  });
  for (const stream of [child.stdin, child.stdout, child.stderr]) unrefStream(stream);
  return child;
}

/** The streams of a child process are sockets. Writing to a process that has ended is reported by its end. */
function unrefStream(stream: ChildProcess["stdin" | "stdout"]): void {
  (stream as { unref?(): void } | null)?.unref?.();
  stream?.on("error", () => undefined);
}

type ReportReader = {
  /** Returns the next report, or a failure once the process has ended or the time is over. */
  next(maxMs: number): Promise<SandboxReport>;
  isReady(): boolean;
  /** Returns the end of what the process wrote to its error output. */
  getErrors(): string;
};

function readReports(
  child: ChildProcess,
  { maxOutputSize, timeoutMs, memoryMb }: ProgramLimits,
): ReportReader {
  const queue: SandboxReport[] = [];
  let [buffer, errors, isReady, hasEnded] = ["", "", false, false];
  let notify: (() => void) | undefined;
  const add = (report: SandboxReport) => {
    isReady ||= report.type === "ready";
    queue.push(report);
    notify?.();
  };
  const end = (message: string) => {
    if (hasEnded) return;
    hasEnded = true;
    child.kill("SIGKILL");
    add({ type: "failed", message });
  };
  child.stderr?.on("data", (chunk: Buffer) => {
    errors = `${errors}${chunk}`.slice(-2000);
  });
  child.stdout?.setEncoding("utf8");
  child.stdout?.on("data", (text: string) => {
    const lines = `${buffer}${text}`.split("\n");
    buffer = lines.pop() ?? "";
    for (const line of lines) add(parseReport(line));
    // The limit counts the characters of one report, and the name of its type is never long.
    if (buffer.length > maxOutputSize * 2) end("The program's output is larger than its limit.");
  });
  child.on("error", (error) => end(error.message));
  child.on("close", () => end(`The process of the program ended: it may need more than ${memoryMb} MB.`));

  return {
    async next(maxMs) {
      const timer = setTimeout(() => {
        end(`The program ran for ${timeoutMs} ms without a tool call and was stopped. Check its loops.`);
      }, maxMs);
      try {
        while (queue.length === 0) {
          if (hasEnded) return { type: "failed", message: "The process of the program has ended." };
          const { promise, resolve } = Promise.withResolvers<void>();
          notify = resolve;
          await promise;
        }
        return queue.shift() as SandboxReport;
      } finally {
        clearTimeout(timer);
        notify = undefined;
      }
    },
    isReady: () => isReady,
    getErrors: () => errors,
  };
}

/** Reads a report as untrusted data: a program that has escaped its interpreter could write anything. */
function parseReport(line: string): SandboxReport {
  try {
    const report = JSON.parse(line);
    if (isReport(report)) return report;
  } catch {
    // not JSON
  }
  return { type: "failed", message: "The process of the program sent an invalid report." };
}

function isReport(report: unknown): report is SandboxReport {
  if (!isRecord(report)) return false;
  const { type, calls, text, log, message } = report;
  if (type === "ready") return true;
  if (type === "done") return typeof text === "string" && typeof log === "string";
  if (type === "failed") return typeof message === "string";
  return type === "calls" && Array.isArray(calls) && calls.length > 0 && calls.every(isCall);
}

const isCall = (call: unknown): boolean =>
  isRecord(call) && typeof call.name === "string" && isRecord(call.input);
