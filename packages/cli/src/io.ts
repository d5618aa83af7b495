import type { Readable, Writable } from "node:stream";

/** A stream that may be a terminal. */
export type Terminal = {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
};

/** The process streams, environment and working directory of a command. Tests pass their own. */
export type Io = {
  readonly stdin: Readable & Terminal & { setRawMode?(mode: boolean): unknown };
  readonly stdout: Writable & Terminal;
  readonly stderr: Writable & Terminal;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
};

/** The real ones. */
export const processIo: Io = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
};
