import { appendFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import { escapeInvisible } from "capstan";
import type { Io } from "../io.ts";

/** Logs internal errors: one line to stderr, the stacks of the error and its causes to `server.log` in the log folder. */
export function createErrorLog(home: string, io: Io): (error: unknown, id: string) => void {
  const file = join(home, "logs", "server.log");
  return (error, id) => {
    const message = error instanceof Error ? error.message : String(error);
    io.stderr.write(`${id}: ${escapeInvisible(message)} (details in ${file})\n`);
    const text = `${new Date().toISOString()} ${id} ${inspect(error)}\n`;
    mkdir(join(home, "logs"), { recursive: true, mode: 0o700 })
      .then(() => appendFile(file, text, { mode: 0o600 }))
      .catch((problem: Error) => io.stderr.write(`${file} cannot be written: ${problem.message}\n`));
  };
}
