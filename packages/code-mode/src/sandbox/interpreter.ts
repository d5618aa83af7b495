import type { JSValueHandle, QuickJS, QuickJSOptions } from "quickjs-wasi";
import { type Guest, guestSource } from "./guest.ts";
import type { CallReply, Program, ProgramLimits, SandboxReport } from "./protocol.ts";

/** Leaves room on the stack of the process, so that deep recursion is an error of the program. */
const maxStackSize = 256 * 1024;
const maxUnhandled = 100;

export type InterpreterOptions = {
  readonly quickjs: Pick<typeof import("quickjs-wasi"), "Intrinsics" | "QuickJS">;
  readonly wasm: WebAssembly.Module;
  readonly program: Program;
  readonly limits: ProgramLimits;
};

/** A program in execution. It must not be used after a report of another type than `calls`. */
export type Interpreter = {
  start(): SandboxReport;
  continue(replies: readonly CallReply[]): SandboxReport;
};

/** The memory of the interpreter, and the errors that no code of the program has handled. */
type Machine = {
  readonly vm: QuickJS;
  readonly unhandled: Map<number, JSValueHandle>;
  /** The running time of this process at which the program is interrupted. */
  deadline: number;
};

async function createMachine({ quickjs, wasm, program, limits }: InterpreterOptions): Promise<Machine> {
  const { ALL, WEAK_REF, PERFORMANCE } = quickjs.Intrinsics;
  const unhandled: Machine["unhandled"] = new Map();
  const parentId = process.ppid;
  const vm = await quickjs.QuickJS.create({
    wasm,
    wasi: createFixedWorld(program.startedAt),
    timezoneOffset: 0,
    memoryLimit: limits.memoryMb * 1024 * 1024,
    maxStackSize,
    // Without objects whose behavior depends on the garbage collection or the time.
    intrinsics: (ALL & ~(WEAK_REF | PERFORMANCE)) >>> 0,
    // A process that has lost its parent is of no use.
    interruptHandler: () => measureCpuMs() > machine.deadline || process.ppid !== parentId,
    onUnhandledRejection(promise, reason, isHandled) {
      if (isHandled) unhandled.delete(promise.identity);
      else if (unhandled.size < maxUnhandled) unhandled.set(promise.identity, reason.dup());
    },
  });
  const machine: Machine = { vm, unhandled, deadline: Number.POSITIVE_INFINITY };
  return machine;
}

/** Returns the processor time of this process, which does not pass while other processes run. */
function measureCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Calls a function of the guest. Throws if the interpreter stops it. */
type CallGuest = (method: keyof Guest, ...values: readonly JSValueHandle[]) => JSValueHandle;

function openGuest(vm: QuickJS, { program, limits }: InterpreterOptions): CallGuest {
  const create = vm.evalCode(guestSource, "guest.js");
  const names = vm.newString(JSON.stringify(program.tools));
  const guest = vm.callFunction(create, vm.undefined, names, vm.newNumber(limits.maxOutputSize));
  return (method, ...values) => vm.callFunction(guest.getProp(method), guest, ...values);
}

/** Creates the interpreter of one program, whose results depend on nothing but the program and the replies. */
export async function createInterpreter(options: InterpreterOptions): Promise<Interpreter> {
  const { program, limits } = options;
  const machine = await createMachine(options);
  const { vm, unhandled } = machine;
  const call = openGuest(vm, options);
  const callText: (...parameters: Parameters<CallGuest>) => string = (...parameters) =>
    call(...parameters).toString();
  let firstOpen = 0;
  let callCount = 0;

  function findProgramFailure(): string | undefined {
    if (callText("getState") === "failed") return formatFailure(callText("describe"));
    const [reason] = unhandled.values();
    if (callText("getState") === "running" || !reason) return undefined;
    return `${formatFailure(callText("describe", reason))} No code of the program handled this error: await the promise.`;
  }

  function advanceGuest(): SandboxReport {
    vm.executePendingJobs();
    const failure = findProgramFailure();
    if (failure !== undefined) return { type: "failed", message: failure };
    const calls = JSON.parse(callText("takeCalls"));
    if (calls.length > 0) {
      firstOpen = callCount;
      callCount += calls.length;
      return { type: "calls", calls };
    }
    if (callText("getState") === "done") return { type: "done", ...readProgramValue() };
    const message =
      "The program waits for nothing: it awaits a promise that no tool call settles. There are no timers; await tool calls only.";
    return { type: "failed", message };
  }

  function readProgramValue(): { readonly text: string; readonly log: string } {
    try {
      return { text: callText("formatValue"), log: callText("getLog") };
    } catch (thrown) {
      throw new Error(`The program returned a value that JSON cannot express: ${toMessage(thrown)}`);
    }
  }

  /** Executes guest code within the limits. Nothing that it does may throw in this process. */
  function limit(execute: () => void): SandboxReport {
    machine.deadline = measureCpuMs() + limits.timeoutMs;
    try {
      execute();
      return withinSize(advanceGuest(), limits.maxOutputSize);
    } catch (thrown) {
      return { type: "failed", message: describeStop(thrown, limits) };
    }
  }

  return {
    start: () =>
      limit(
        () => void call("start", vm.evalCode(`(async () => {"use strict";${program.code}\n})`, "program.js")),
      ),
    continue: (replies) =>
      limit(() => {
        for (const [index, reply] of replies.entries()) {
          const text = JSON.stringify(reply.ok ? reply.value : { code: reply.code, message: reply.message });
          const isOk = reply.ok ? vm.true : vm.false;
          call("settle", vm.newNumber(firstOpen + index), isOk, vm.newString(text)).dispose();
        }
      }),
  };
}

/** A clock that stands still and random bytes that repeat, so that a program can be executed again. */
function createFixedWorld(startedAt: number): NonNullable<QuickJSOptions["wasi"]> {
  const nanoseconds = BigInt(Math.trunc(startedAt)) * 1_000_000n;
  return (memory) => ({
    clock_time_get(_clock: number, _precision: bigint, address: number) {
      new DataView(memory.buffer).setBigUint64(address, nanoseconds, true);
      return 0;
    },
    random_get(address: number, length: number) {
      new Uint8Array(memory.buffer, address, length).fill(7);
      return 0;
    },
  });
}

function withinSize(report: SandboxReport, maxSize: number): SandboxReport {
  const { length } = JSON.stringify(report);
  if (length <= maxSize) return report;
  const subject = report.type === "calls" ? "The arguments of its calls" : "The answer and the log";
  const message = `${subject} have ${length} characters, and the limit is ${maxSize}. Return less, such as a count or the first entries.`;
  return { type: "failed", message };
}

function formatFailure(description: string): string {
  const { message, stack = "" } = JSON.parse(description) as { message: string; stack?: string };
  return `${formatLinePrefix(stack)}${message}${/[.!?]$/.test(message) ? "" : "."}`;
}

const formatLinePrefix = (stack: string): string => {
  const line = /program\.js:(\d+)/.exec(stack)?.[1];
  return line === undefined ? "" : `Line ${line}: `;
};

const toMessage = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** Says why the interpreter stopped the program, or why the program could not be read. */
function describeStop(thrown: unknown, { timeoutMs, memoryMb }: ProgramLimits): string {
  const { name = "Error", message = String(thrown), stack = "" } = thrown as Partial<Error>;
  const line = formatLinePrefix(stack);
  // The interpreter does not know the line of an interruption exactly.
  if (message.includes("interrupted"))
    return `The program ran for ${timeoutMs} ms without a tool call and was stopped. Check its loops.`;
  if (message.includes("out of memory") || message === "<null>")
    return `${line}The program needs more than its ${memoryMb} MB of memory.`;
  return name === "Error" ? message : `${line}${name}: ${message}.`;
}
