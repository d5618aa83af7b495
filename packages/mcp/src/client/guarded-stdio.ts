import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import type { Socket } from "node:net";
import { basename } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import {
  deserializeMessage,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/client";
import { getDefaultEnvironment } from "@modelcontextprotocol/client/stdio";
import { AgentError } from "capstan";
import { lines } from "./lines.ts";

export type StdioSettings = {
  readonly command: string;
  readonly args?: readonly string[];
  /** Beside a few harmless names (HOME, LOGNAME, PATH, SHELL, TERM, USER) all that the server gets to see. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
};

/** Where a transport reports what is not protocol. */
export type Journal = {
  /** A line that the server wrote to stderr. */
  log(line: string): void;
  /** A line on stdout that is no message. */
  junk(line: string): void;
};

const longestMessage = 10 * 1024 * 1024;
const mostJunk = 1_000;
const patienceMs = 2_000;
/** What is still in the pipes when the process has ended is read for so long. */
const lastWordsMs = 500;

/** The way to a child process. */
export type StdioTransport = Transport & {
  readonly stderr: Readable | null;
  readonly pid: number | null;
  /** How the process ended, in words. */
  readonly ended: string | undefined;
};

/** A server as a child process. It ends with us, whatever way we end: see `guard.ts`. */
export function guardedStdio(settings: StdioSettings, journal: Journal): StdioTransport {
  let guard: ChildProcess | undefined;
  let pid: number | undefined;
  let failure: Error | undefined;
  let ended: string | undefined;
  let closed = false;

  const transport: StdioTransport = {
    start() {
      guard = startGuard(settings);
      const started = Promise.withResolvers<void>();
      const fail = (error: Error) => {
        failure ??= error;
        transport.onerror?.(error);
        started.reject(error);
        guard?.kill();
      };
      guard.on("error", fail);
      guard.on("exit", () => {
        // Its own end may have left the server behind, and a child that has left the group may keep our pipes open.
        if (pid !== undefined) killGroup(pid);
        setTimeout(() => guard?.stdio.forEach((stream) => void stream?.destroy()), lastWordsMs).unref();
      });
      guard.on("close", () => {
        started.reject(failure ?? new AgentError("mcp_disconnected", `"${settings.command}" did not start.`));
        closed = true;
        transport.onclose?.();
      });
      readLines(guard.stdio[3] as Socket, (line) => {
        const [, event, about = ""] = /^(\w+) (.*)$/.exec(line) ?? [];
        if (event === "started") {
          pid = Number(about);
          started.resolve();
        } else if (event === "failed") fail(notStarted(settings, about));
        else {
          ended = about;
          journal.log(`The server ended ${about}.`);
        }
      });
      readLines(guard.stderr, journal.log);
      readMessages(guard.stdout, { transport, journal, fail });
      guard.stdin?.on("error", (error) => transport.onerror?.(error));
      return started.promise;
    },
    async send(message) {
      if (!guard?.stdin || closed)
        throw failure ?? new AgentError("mcp_disconnected", "The server is not running.");
      const { stdin } = guard;
      if (!stdin.write(serializeMessage(message))) {
        // A server that reads nothing must not hold up whoever sends for ever.
        await new Promise((resolve) => stdin.once("drain", resolve).once("close", resolve));
      }
    },
    async close() {
      if (guard && !closed) await end(guard);
    },
    // What tells the SDK that this is a child process: silence to its first question means an older server.
    get stderr() {
      return guard?.stderr ?? null;
    },
    get pid() {
      return pid ?? null;
    },
    get ended() {
      return ended;
    },
  };
  return transport;
}

function startGuard({ command, args = [], env, cwd }: StdioSettings): ChildProcess {
  return spawn(process.execPath, [guardFile(), command, ...args], {
    env: { ...getDefaultEnvironment(), AI_AGENT: "capstan", ...env },
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    ...(cwd !== undefined && { cwd }),
  });
}

function guardFile(): string {
  if (import.meta.url.endsWith(".ts")) return fileURLToPath(new URL("./guard.ts", import.meta.url));
  return createRequire(import.meta.url).resolve("@capstan/mcp/guard");
}

/** The end of its input asks a server to leave; the end of the lifeline makes the guard end its whole group. */
async function end(guard: ChildProcess): Promise<void> {
  const gone = new Promise<void>((resolve) => guard.once("close", () => resolve()));
  guard.stdin?.end();
  const timer = setTimeout(() => guard.stdio[3]?.destroy(), patienceMs);
  await gone;
  clearTimeout(timer);
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The guard has done it.
  }
}

function notStarted({ command, cwd }: StdioSettings, why: string): AgentError {
  const where = cwd === undefined ? "" : ` in ${cwd}`;
  return new AgentError(
    "mcp_disconnected",
    `"${basename(command)}" cannot be started${where}: ${why}. Check the command and that it is installed.`,
  );
}

const tooLong = new AgentError(
  "mcp_protocol",
  `A message of the server is longer than ${longestMessage} bytes; it was closed.`,
  { retryable: true },
);
const tooMuchJunk = new AgentError(
  "mcp_protocol",
  `The server wrote more than ${mostJunk} lines to stdout that are no messages; it was closed. Its log belongs on stderr.`,
);

type Reading = {
  readonly transport: Transport;
  readonly journal: Journal;
  fail(error: Error): void;
};

function readMessages(stdout: Readable | null, { transport, journal, fail }: Reading): void {
  const cut = lines(longestMessage);
  let junk = 0;
  stdout?.on("data", (bytes: Buffer) => {
    try {
      for (const line of cut(bytes)) {
        const message = messageOf(line);
        if (message) hear(message, transport);
        else if (line.trim() !== "") {
          journal.junk(line);
          if (++junk > mostJunk) throw tooMuchJunk;
        }
      }
    } catch (error) {
      stdout.removeAllListeners("data").resume();
      fail(error instanceof AgentError ? error : tooLong);
    }
  });
}

function messageOf(line: string): JSONRPCMessage | undefined {
  try {
    return deserializeMessage(line);
  } catch {
    return undefined;
  }
}

/** What cannot be handled, such as arrays in arrays without end, is told and ends nothing. */
function hear(message: JSONRPCMessage, transport: Transport): void {
  try {
    transport.onmessage?.(message);
  } catch (problem) {
    transport.onerror?.(problem as Error);
  }
}

/** Of what is for people: a longer line is cut. */
function readLines(stream: Readable | null | undefined, hear: (line: string) => void): void {
  const cut = lines(64 * 1024);
  stream?.on("data", (bytes: Buffer) => {
    try {
      for (const line of cut(bytes)) hear(line);
    } catch {
      hear("(a line that is too long)");
    }
  });
  stream?.on("error", () => undefined);
}
