import { listenHealth } from "@capstan/server";
import { escapeInvisible } from "capstan";
import type { CommandOutcome } from "../commands/command.ts";
import { onUnhandledError } from "../errors/unhandled-errors.ts";
import { exitCodes } from "../exit-code.ts";
import type { Io } from "../io.ts";
import { resolveAddress } from "./address.ts";
import { shortenPath } from "./announcement.ts";
import { createErrorLog } from "./error-log.ts";
import type { ServeFlags } from "./serve.ts";
import { openServerInstance } from "./server-instance.ts";
import { waitForShutdown } from "./wait-for-shutdown.ts";

/** Executes runs until a shutdown signal. */
export async function work(flags: ServeFlags, io: Io, outcome: CommandOutcome): Promise<void> {
  const leave = waitForShutdown(io);
  // Nothing else keeps the process alive while it has no run.
  const keepAlive = setInterval(() => undefined, 3_600_000);
  const { workspace, server, startWork, close } = await openServerInstance({
    flags: { ...flags, logs: false },
    io,
  });
  const onError = createErrorLog(workspace.home, io);
  const stopReporting = onUnhandledError((error) => onError(error, "uncaught"));
  try {
    const { healthPort: port, host } = resolveAddress(flags, io.env, workspace.config.server);
    const health =
      port === undefined ? undefined : await listenHealth(server, { port, ...(host && { host }) });
    const engineLines = await startWork();
    for (const notice of [...workspace.notices, ...engineLines]) io.stderr.write(`${notice}\n`);
    const names = workspace.agents.map(({ name }) => name).join(", ");
    const database = shortenPath(workspace.database, io.cwd);
    const probes = health ? `  health    port ${health.port}: /healthz, /readyz, /metrics\n` : "";
    io.stdout.write(
      `Capstan works on ${escapeInvisible(database)}\n\n  agents    ${escapeInvisible(names)}\n${probes}\nPress Ctrl-C to stop.\n`,
    );
    await leave;
    await close();
    await health?.close();
    outcome.exitCode = exitCodes.ok;
  } finally {
    stopReporting();
    await close(0);
    clearInterval(keepAlive);
  }
}
