import { escapeInvisible } from "capstan";
import type { TransportLog } from "./transport/stdio-transport.ts";

/** The last log lines of a server, and counts of its invalid output. */
export interface ServerLog extends TransportLog {
  /** Records a dropped message. */
  ignore(problem: Error): void;
  readonly counts: { readonly junk: number; readonly ignored: number };
  /** Oldest first. */
  tail(): readonly string[];
}

const maxLines = 100;
const maxLineLength = 500;

export function createServerLog(): ServerLog {
  const lines: string[] = [];
  const counts = { junk: 0, ignored: 0 };
  function log(line: string): void {
    const truncated = line.length > maxLineLength ? `${line.slice(0, maxLineLength).toWellFormed()}…` : line;
    // Escaped, because lines may be shown in a terminal.
    lines.push(escapeInvisible(truncated));
    if (lines.length > maxLines) lines.shift();
  }
  return {
    log,
    junk(line) {
      counts.junk += 1;
      log(`Not a message: ${line}`);
    },
    ignore(problem) {
      counts.ignored += 1;
      log(problem.message);
    },
    counts,
    tail: () => [...lines],
  };
}
