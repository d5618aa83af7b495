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
import { createLineSplitter } from "./line-splitter.ts";

export type StdioSettings = {
  readonly command: string;
  readonly args?: readonly string[];
  /** The server's whole environment, besides HOME, LOGNAME, PATH, SHELL, TERM and USER. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
};

/** Receives output that is not part of the protocol. */
export type TransportLog = {
  /** A line that the server wrote to stderr. */
  log(line: string): void;
  /** A line on stdout that is not a message. */
  junk(line: string): void;
};

const maxMessageBytes = 10 * 1024 * 1024;
const maxJunkLines = 1_000;
const exitTimeoutMs = 2_000;
/** Time to drain the pipes after the process has exited. */
const drainTimeoutMs = 500;

export type StdioTransport = Transport & {
  readonly stderr: Readable | null;
  readonly pid: number | null;
  /** How the process exited, such as "with code 1". */
  readonly ended: string | undefined;
};

/** Runs a server as a child process, which never outlives this process: see `guard.ts`. */
export function createStdioTransport(settings: StdioSettings, logger: TransportLog): StdioTransport {
  let guard: ChildProcess | undefined;
  let pid: number | undefined;
  let failure: Error | undefined;
  let ended: string | undefined;
  let isClosed = false;

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
        // If the guard was killed, the server may still run. A child outside the group may keep the pipes open.
        if (pid !== undefined) killGroup(pid);
        setTimeout(() => guard?.stdio.forEach((stream) => void stream?.destroy()), drainTimeoutMs).unref();
      });
      guard.on("close", () => {
        started.reject(failure ?? new AgentError("mcp_disconnected", `"${settings.command}" did not start.`));
        isClosed = true;
        transport.onclose?.();
      });
      readLines(guard.stdio[3] as Socket, (line) => {
        const [, event, detail = ""] = /^(\w+) (.*)$/.exec(line) ?? [];
        if (event === "started") {
          pid = Number(detail);
          started.resolve();
        } else if (event === "failed") fail(createStartError(settings, detail));
        else {
          ended = detail;
          logger.log(`The server exited ${detail}.`);
        }
      });
      readLines(guard.stderr, logger.log);
      readMessages(guard.stdout, { transport, logger, fail });
      guard.stdin?.on("error", (error) => transport.onerror?.(error));
      return started.promise;
    },
    async send(message) {
      if (!guard?.stdin || isClosed)
        throw failure ?? new AgentError("mcp_disconnected", "The server is not running.");
      const { stdin } = guard;
      if (!stdin.write(serializeMessage(message))) {
        // Also resolves on close: a server that does not read must not block the sender forever.
        await new Promise((resolve) => stdin.once("drain", resolve).once("close", resolve));
      }
    },
    async close() {
      if (guard && !isClosed) await closeGuard(guard);
    },
    // The SDK recognizes a child process by `stderr`, and takes silence on its first request for an older server.
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
  return spawn(process.execPath, [getGuardFile(), command, ...args], {
    env: { ...getDefaultEnvironment(), AI_AGENT: "capstan", ...env },
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    ...(cwd !== undefined && { cwd }),
  });
}

function getGuardFile(): string {
  if (import.meta.url.endsWith(".ts")) return fileURLToPath(new URL("./guard.ts", import.meta.url));
  return createRequire(import.meta.url).resolve("@capstan/mcp/guard");
}

/** Closing stdin asks the server to exit; closing the lifeline makes the guard kill its process group. */
async function closeGuard(guard: ChildProcess): Promise<void> {
  const guardClosed = new Promise<void>((resolve) => guard.once("close", () => resolve()));
  guard.stdin?.end();
  const timer = setTimeout(() => guard.stdio[3]?.destroy(), exitTimeoutMs);
  await guardClosed;
  clearTimeout(timer);
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The guard has already killed it.
  }
}

function createStartError({ command, cwd }: StdioSettings, reason: string): AgentError {
  const location = cwd === undefined ? "" : ` in ${cwd}`;
  return new AgentError(
    "mcp_disconnected",
    `"${basename(command)}" cannot be started${location}: ${reason}. Check the command and that it is installed.`,
  );
}

const messageTooLongError = new AgentError(
  "mcp_protocol",
  `The server was closed: it sent a message longer than ${maxMessageBytes} bytes.`,
  { retryable: true },
);
const tooMuchJunkError = new AgentError(
  "mcp_protocol",
  `The server was closed: it wrote more than ${maxJunkLines} lines to stdout that are not messages. Logs belong on stderr.`,
);

type MessageReader = {
  readonly transport: Transport;
  readonly logger: TransportLog;
  fail(error: Error): void;
};

function readMessages(stdout: Readable | null, { transport, logger, fail }: MessageReader): void {
  const splitLines = createLineSplitter(maxMessageBytes);
  let junk = 0;
  stdout?.on("data", (bytes: Buffer) => {
    try {
      for (const line of splitLines(bytes)) {
        const message = parseLine(line);
        if (message) deliverMessage(message, transport);
        else if (line.trim() !== "") {
          logger.junk(line);
          if (++junk > maxJunkLines) throw tooMuchJunkError;
        }
      }
    } catch (error) {
      stdout.removeAllListeners("data").resume();
      fail(error instanceof AgentError ? error : messageTooLongError);
    }
  });
}

function parseLine(line: string): JSONRPCMessage | undefined {
  try {
    return deserializeMessage(line);
  } catch {
    return undefined;
  }
}

/** A message that cannot be handled, such as endlessly nested arrays, is reported and skipped. */
function deliverMessage(message: JSONRPCMessage, transport: Transport): void {
  try {
    transport.onmessage?.(message);
  } catch (problem) {
    transport.onerror?.(problem as Error);
  }
}

/** For log output: overlong lines are replaced. */
function readLines(stream: Readable | null | undefined, onLine: (line: string) => void): void {
  const splitLines = createLineSplitter(64 * 1024);
  stream?.on("data", (bytes: Buffer) => {
    try {
      for (const line of splitLines(bytes)) onLine(line);
    } catch {
      onLine("(line too long)");
    }
  });
  stream?.on("error", () => undefined);
}
