import { AgentError } from "capstan";
import type { CommandOutcome } from "../commands/command.ts";
import type { Config } from "../config/config.ts";
import { onUnhandledError } from "../errors/unhandled-errors.ts";
import { exitCodes } from "../exit-code.ts";
import type { Io } from "../io.ts";
import type { WorkspaceFlags } from "../workspace/workspace.ts";
import { resolveAddress } from "./address.ts";
import { formatAnnouncement } from "./announcement.ts";
import type { EngineFlags } from "./engine/loaded-engine.ts";
import { createErrorLog } from "./error-log.ts";
import { type LogFlags, openServerInstance } from "./server-instance.ts";
import { assertPortFree, listenOnPort } from "./start-server.ts";
import { explainMissingStudio, findStudio } from "./studio.ts";
import { waitForShutdown } from "./wait-for-shutdown.ts";

/** Flags of `serve` and `dev`. */
export type ServeFlags = WorkspaceFlags &
  EngineFlags &
  LogFlags & {
    readonly port?: string;
    readonly host?: string;
    readonly studio?: boolean;
    /** Lets admins add MCP servers that are programs. */
    readonly mcpCommands?: boolean;
  };

/** Serves until a shutdown signal. */
export async function serve(flags: ServeFlags, io: Io, outcome: CommandOutcome): Promise<void> {
  // Registered first, so that a signal during startup is handled.
  const leave = waitForShutdown(io);
  const known = resolveAddress(flags, io.env);
  if (known.port !== undefined) await assertPortFree(known);
  const studio = flags.studio ? await requireStudio() : undefined;
  const onConfig = ({ server }: Config) => assertPortFree(resolveAddress(flags, io.env, server));
  const generation = await openServerInstance({
    ...{ flags: { ...flags, logs: false }, io, studio, onConfig },
    changesMcp: true,
  });
  const onError = createErrorLog(generation.workspace.home, io);
  const hearNoMore = onUnhandledError((error) => onError(error, "uncaught"));
  try {
    const { workspace, server } = generation;
    const address = resolveAddress(flags, io.env, workspace.config.server);
    const listening = await listenOnPort(server, address);
    const engineLines = await generation.startWork();
    for (const notice of [...workspace.notices, ...engineLines]) io.stderr.write(`${notice}\n`);
    const isKeyNeeded = await server.keys.areNeeded();
    const served = { title: "Capstan", url: listening.url, workspace, isKeyNeeded, cwd: io.cwd };
    io.stdout.write(
      formatAnnouncement({ ...served, ...(studio !== undefined && { studio: listening.url }) }),
    );
    await leave;
    await listening.close();
    outcome.exitCode = exitCodes.ok;
  } finally {
    hearNoMore();
    await generation.close(0);
  }
}

async function requireStudio(): Promise<string> {
  const studio = await findStudio();
  if (studio !== undefined) return studio;
  throw new AgentError("invalid_definition", `${await explainMissingStudio()} Or remove --studio.`);
}
