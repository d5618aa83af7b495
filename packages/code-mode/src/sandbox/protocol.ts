import type { Json } from "capstan";

/** What bounds a program. */
export type ProgramLimits = {
  /** Processor time between two tool calls, in milliseconds. */
  readonly timeoutMs: number;
  /** Memory of the program, in megabytes. */
  readonly memoryMb: number;
  /** Tool calls of one program, including failed and denied ones. */
  readonly maxCalls: number;
  /** Characters of the program. */
  readonly maxProgramSize: number;
  /** Characters of everything that leaves the program at once: its answer, its log, the arguments of its calls. */
  readonly maxOutputSize: number;
};

/** A call that the program waits for. */
export type ProgramCall = { readonly name: string; readonly input: { readonly [key: string]: Json } };

/** The result of a call, as the program receives it: a value, or an error that is thrown. */
export type CallReply =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly code: string; readonly message: string };

/** A program to execute. `startedAt` is its date and the seed of its random numbers. */
export type Program = {
  readonly code: string;
  readonly tools: readonly string[];
  readonly startedAt: number;
};

/** A line to the process. It has one result for each call in the last report, in the same order. */
export type SandboxRequest =
  | { readonly type: "start"; readonly program: Program; readonly limits: ProgramLimits }
  | { readonly type: "continue"; readonly replies: readonly CallReply[] };

/** A line from the process: how far the program has come. `log` is the text that it has written to the console. */
export type SandboxReport =
  | { readonly type: "ready" }
  | { readonly type: "calls"; readonly calls: readonly ProgramCall[] }
  | { readonly type: "done"; readonly text: string; readonly log: string }
  | { readonly type: "failed"; readonly message: string };
