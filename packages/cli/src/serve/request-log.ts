import { openSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import type { ServerOptions } from "@capstan/server";
import { AgentError } from "capstan";
import type { Io } from "../io.ts";

/** Writes a JSON line per request: to the file, or with `true` to stdout. Throws if the file cannot be opened. */
export function createRequestLog(
  to: string | true,
  { stdout, stderr, cwd }: Io,
): NonNullable<ServerOptions["onRequest"]> {
  if (to === true) return (entry) => void stdout.write(`${JSON.stringify(entry)}\n`);
  const file = resolve(cwd, to);
  let isReported = false;
  const descriptor = openLog(file);
  return (entry) => {
    try {
      // Synchronous, so that lines stay whole and in order, and none is lost when the process ends.
      writeSync(descriptor, `${JSON.stringify(entry)}\n`);
    } catch (error) {
      if (!isReported) stderr.write(`${file} cannot be written: ${(error as Error).message}\n`);
      isReported = true;
    }
  };
}

function openLog(file: string): number {
  try {
    return openSync(file, "a", 0o600);
  } catch (cause) {
    const message = `The request log cannot be opened: ${(cause as Error).message}. Check --log.`;
    throw new AgentError("invalid_definition", message, { cause });
  }
}
