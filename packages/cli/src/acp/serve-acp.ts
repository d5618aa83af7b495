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

// Time for the current step to finish; an unfinished step is repeated when the run resumes.
const shutdownTimeoutMs = 1_000;

/** Serves the agent to one editor until it disconnects or a signal arrives. */
export async function serveAcp(flags: WorkspaceFlags, io: Io, outcome: CommandOutcome): Promise<void> {
  if (flags.trust)
    throw new AgentError(
      "invalid_input",
      "`capstan acp` does not accept --trust, which would trust every folder the editor opens. Review a folder, then run `capstan --trust` in it once.",
    );
  // Before a config is imported, which may print.
  const stdout = claimStdout();
  const sessions = createAcpSessions(flags, io);
  const hearNoMore = onUnhandledError((error) => io.stderr.write(`${formatUnhandledError(error, io.env)}\n`));
  const input = Readable.toWeb(io.stdin) as ReadableStream<Uint8Array>;
  const connection = createAcpAgent(sessions, io).connect(ndJsonStream(Writable.toWeb(stdout), input));
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => connection.close());
  if (io.stdin.isTTY)
    io.stderr.write(
      "This is an ACP server on stdin and stdout, to be started by an editor. Press Ctrl-C to exit; run `capstan` for the chat.\n",
    );
  await connection.closed;
  const closed = sessions.close().catch((error: Error) => io.stderr.write(`${error.message}\n`));
  // Released runs resume when the session is loaded again.
  await Promise.race([closed, delay(shutdownTimeoutMs, undefined, { ref: false })]);
  hearNoMore();
  outcome.exitCode = exitCodes.ok;
}
