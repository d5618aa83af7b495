import { Readable, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import { AgentError } from "capstan";
import type { CommandOutcome } from "../commands/command.ts";
import { formatUnhandledError } from "../errors/format-unhandled-error.ts";
import { onUnhandledError } from "../errors/unhandled-errors.ts";
import { exitCodes } from "../exit-code.ts";
import type { Io } from "../io.ts";
import { claimStdout } from "../serve/take-stdout.ts";
import type { WorkspaceFlags } from "../workspace/workspace.ts";
import { createAcpAgent } from "./acp-agent.ts";
import { createAcpSessions } from "./sessions.ts";

// So long a step that is under way may take to end by itself; what it has not said by then is asked for again.
const shutdownTimeoutMs = 1_000;

/** Serves the agent to one editor, until it leaves or a signal comes. */
export async function serveAcp(flags: WorkspaceFlags, io: Io, outcome: CommandOutcome): Promise<void> {
  if (flags.trust)
    throw new AgentError(
      "invalid_input",
      "`capstan acp` takes no --trust: an editor would say it for every folder that is opened. Look at a folder, then run `capstan --trust` in it once.",
    );
  // Before a configuration is imported, which may print something.
  const stdout = claimStdout();
  const sessions = createAcpSessions(flags, io);
  const hearNoMore = onUnhandledError((error) => io.stderr.write(`${formatUnhandledError(error, io.env)}\n`));
  const input = Readable.toWeb(io.stdin) as ReadableStream<Uint8Array>;
  const connection = createAcpAgent(sessions, io).connect(ndJsonStream(Writable.toWeb(stdout), input));
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => connection.close());
  if (io.stdin.isTTY)
    io.stderr.write(
      "This speaks ACP over stdin and stdout, for an editor that starts it; Ctrl-C leaves. `capstan` alone is the chat.\n",
    );
  await connection.closed;
  const closed = sessions.close().catch((error: Error) => io.stderr.write(`${error.message}\n`));
  // What is put down goes on where the session is loaded again.
  await Promise.race([closed, delay(shutdownTimeoutMs, undefined, { ref: false })]);
  hearNoMore();
  outcome.exitCode = exitCodes.ok;
}
