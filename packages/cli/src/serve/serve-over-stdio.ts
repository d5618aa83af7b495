import { resolve } from "node:path";
import { serveMcp } from "@capstan/mcp";
import { AgentError, escapeInvisible } from "capstan";
import type { CommandOutcome } from "../commands/command.ts";
import { formatUnhandledError } from "../errors/format-unhandled-error.ts";
import { onUnhandledError } from "../errors/unhandled-errors.ts";
import { exitCodes } from "../exit-code.ts";
import type { Io } from "../io.ts";
import { version } from "../version.ts";
import type { WorkspaceFlags } from "../workspace/workspace.ts";
import { openWorkspace } from "../workspace/workspace.ts";
import { loadWidgetPage } from "./studio.ts";
import { claimStdout } from "./take-stdout.ts";

type StdioFlags = WorkspaceFlags & {
  /** The folder to work in. Clients start the command in any folder. */
  readonly folder?: string | undefined;
};

/** Serves the agents to one MCP client until it disconnects or a signal arrives. */
export async function serveOverStdio(
  flags: StdioFlags,
  processIo: Io,
  outcome: CommandOutcome,
): Promise<void> {
  const io = flags.folder === undefined ? processIo : enterFolder(flags.folder, processIo);
  // Before the config is imported, which may print.
  const stdout = claimStdout();
  const workspace = await openWorkspace(flags, io);
  const hearNoMore = onUnhandledError((error) => io.stderr.write(`${formatUnhandledError(error, io.env)}\n`));
  try {
    const { agent, agents, store, policy, log } = workspace;
    for (const notice of workspace.notices) io.stderr.write(`${notice}\n`);
    const service = serveMcp({
      agents: [agent, ...agents.filter(({ name }) => name !== agent.name)],
      ...{ store, policy, version },
      widgets: await loadWidgetPage(),
      onEvent: log,
      onError: ({ message }) => io.stderr.write(`${escapeInvisible(message)}\n`),
    });
    const client = service.stdio({ stdin: io.stdin, stdout });
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void client.close());
    if (io.stdin.isTTY)
      io.stderr.write(
        "This is an MCP server on stdin and stdout, to be started by a client. Press Ctrl-C to exit; run `capstan` for the chat.\n",
      );
    await client.closed;
    await service.close();
    outcome.exitCode = exitCodes.ok;
  } finally {
    hearNoMore();
    await workspace.close();
  }
}

function enterFolder(folder: string, io: Io): Io {
  const cwd = resolve(io.cwd, folder);
  try {
    process.chdir(cwd);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new AgentError("invalid_input", `Cannot work in ${cwd} (${code}). Check --folder.`, { cause });
  }
  return { ...io, cwd };
}
