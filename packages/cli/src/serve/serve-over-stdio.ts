import { serveMcp } from "@capstan/mcp";
import { escapeInvisible } from "capstan";
import type { Outcome } from "../commands/command.ts";
import { strayErrorWords } from "../errors/format-unhandled-error.ts";
import { hearStrayErrors } from "../errors/unhandled-errors.ts";
import { exitCodes } from "../exit-code.ts";
import type { Io } from "../io.ts";
import { version } from "../version.ts";
import type { WorkspaceFlags } from "../workspace/workspace.ts";
import { openWorkspace } from "../workspace/workspace.ts";
import { takeStdout } from "./take-stdout.ts";

/** Serves the agents to one MCP client, until it leaves or a signal comes. */
export async function serveOverStdio(flags: WorkspaceFlags, io: Io, outcome: Outcome): Promise<void> {
  // Before the configuration is imported, which may print something.
  const stdout = takeStdout();
  const workspace = await openWorkspace(flags, io);
  const hearNoMore = hearStrayErrors((error) => io.stderr.write(`${strayErrorWords(error, io.env)}\n`));
  try {
    const { agent, agents, store, policy, logs } = workspace;
    for (const notice of workspace.notices) io.stderr.write(`${notice}\n`);
    const service = serveMcp({
      agents: [agent, ...agents.filter(({ name }) => name !== agent.name)],
      ...{ store, policy, version },
      onEvent: logs,
      onError: ({ message }) => io.stderr.write(`${escapeInvisible(message)}\n`),
    });
    const client = service.stdio({ stdin: io.stdin, stdout });
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void client.close());
    if (io.stdin.isTTY)
      io.stderr.write(
        "This speaks MCP over stdin and stdout, for a client that starts it; Ctrl-C leaves. `capstan` alone is the chat.\n",
      );
    await client.closed;
    await service.close();
    outcome.exitCode = exitCodes.ok;
  } finally {
    hearNoMore();
    await workspace.close();
  }
}
