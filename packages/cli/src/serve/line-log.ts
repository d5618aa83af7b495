import { appendFileSync } from "node:fs";
import { resolve } from "node:path";
import { AgentError } from "capstan";
import type { Io } from "../io.ts";

export type LineLogOptions = {
  /** A path relative to the current folder; true for `stream`. */
  readonly target: string | true;
  readonly stream: "stdout" | "stderr";
  /** For error messages: the setting that names the file. */
  readonly setting: string;
};

/** Opens a log of single lines. Throws if the file cannot be opened. */
export function openLineLog({ target, stream, setting }: LineLogOptions, io: Io): (line: string) => void {
  if (target === true) return (line) => void io[stream].write(`${line}\n`);
  const file = resolve(io.cwd, target);
  // Synchronous, so that lines stay whole and in order, and none is lost when the process ends.
  const append = (text: string) => appendFileSync(file, text, { mode: 0o600 });
  assertWritable(append, setting);
  let isReported = false;
  return (line) => {
    try {
      append(`${line}\n`);
    } catch (error) {
      if (!isReported) io.stderr.write(`${file} cannot be written: ${(error as Error).message}\n`);
      isReported = true;
    }
  };
}

function assertWritable(append: (text: string) => void, setting: string): void {
  try {
    append("");
  } catch (cause) {
    const message = `The log cannot be opened: ${(cause as Error).message}. Check ${setting}.`;
    throw new AgentError("invalid_definition", message, { cause });
  }
}
