import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";

/**
 * A line of the canary file. All processes of a trial append to the same file, so its order is the order in which things
 * happened. `begin`, `effect` and `end` are one execution of a tool; `aborted`: it was told to stop. `told`: a fact that
 * the engine has acknowledged.
 */
export type CanaryLine =
  | {
      readonly what: "begin" | "effect" | "end" | "aborted";
      readonly key: string;
      readonly tool: string;
      readonly pid: number;
    }
  | {
      readonly what: "told";
      readonly runId: string;
      readonly seq: number;
      readonly type: string;
      readonly id: string;
    };

export interface Canary {
  /** Appends a line; of an execution also to the disk. */
  write(line: CanaryLine): void;
  close(): void;
}

export function openCanary(file: string): Canary {
  const descriptor = openSync(file, "a");
  return {
    write(line) {
      writeSync(descriptor, `${JSON.stringify(line)}\n`);
      if (line.what !== "told") fsyncSync(descriptor);
    },
    close: () => closeSync(descriptor),
  };
}

/** All lines so far. */
export function readCanary(file: string): CanaryLine[] {
  const text = readFileSync(file, { encoding: "utf8", flag: "a+" });
  return text.split("\n").flatMap((line) => (line === "" ? [] : (JSON.parse(line) as CanaryLine)));
}
