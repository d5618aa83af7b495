import { escapeInvisible } from "capstan";
import type { Journal } from "./guarded-stdio.ts";

/** The last lines of what a server says beside the protocol, and how much of it was no protocol. */
export interface ServerLog extends Journal {
  /** A message that fits nothing: an answer to no question, a wrong shape. */
  ignored(problem: Error): void;
  readonly counts: { readonly junk: number; readonly ignored: number };
  /** Oldest first. */
  tail(): readonly string[];
}

const keptLines = 100;
const longestLine = 500;

export function serverLog(): ServerLog {
  const kept: string[] = [];
  const counts = { junk: 0, ignored: 0 };
  function log(line: string): void {
    const cut = line.length > longestLine ? `${line.slice(0, longestLine).toWellFormed()}…` : line;
    // A terminal that shows it must not obey it.
    kept.push(escapeInvisible(cut));
    if (kept.length > keptLines) kept.shift();
  }
  return {
    log,
    junk(line) {
      counts.junk += 1;
      log(`Not a message: ${line}`);
    },
    ignored(problem) {
      counts.ignored += 1;
      log(problem.message);
    },
    counts,
    tail: () => [...kept],
  };
}
