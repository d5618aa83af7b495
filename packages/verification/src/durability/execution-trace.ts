import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";

/**
 * A line of the trace file. All processes of a trial append to the same file, so its order is the order of events.
 * `begin`, `effect` and `end` are the steps of a tool execution, `aborted` means that its signal was aborted, and
 * `acknowledged` is a fact that the engine has emitted.
 */
export type TraceLine =
  | {
      readonly what: "begin" | "effect" | "end" | "aborted";
      readonly key: string;
      readonly tool: string;
      readonly pid: number;
    }
  | {
      readonly what: "acknowledged";
      readonly runId: string;
      readonly seq: number;
      readonly type: string;
      readonly id: string;
    };

export interface TraceWriter {
  /** Appends a line. Lines about executions are flushed to disk. */
  write(line: TraceLine): void;
  close(): void;
}

export function openTrace(file: string): TraceWriter {
  const descriptor = openSync(file, "a");
  return {
    write(line) {
      writeSync(descriptor, `${JSON.stringify(line)}\n`);
      if (line.what !== "acknowledged") fsyncSync(descriptor);
    },
    close: () => closeSync(descriptor),
  };
}

export function readTrace(file: string): TraceLine[] {
  const text = readFileSync(file, { encoding: "utf8", flag: "a+" });
  return text.split("\n").flatMap((line) => (line === "" ? [] : (JSON.parse(line) as TraceLine)));
}
