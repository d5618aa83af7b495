import { AgentError } from "capstan";
import type { Outcome } from "../commands/command.ts";
import { hearStrayErrors } from "../errors/unhandled-errors.ts";
import { exitCodes } from "../exit-code.ts";
import type { Io } from "../io.ts";
import type { WorkspaceFlags } from "../workspace/workspace.ts";
import { addressOf } from "./address.ts";
import { announcement } from "./announcement.ts";
import { errorLog } from "./error-log.ts";
import { openGeneration } from "./server-instance.ts";
import { listenAt } from "./start-server.ts";
import { findStudio } from "./studio.ts";
import { untilToldToLeave } from "./wait-for-shutdown.ts";

/** What `serve` and `dev` are told. */
export type ServeFlags = WorkspaceFlags & {
  readonly port?: string;
  readonly host?: string;
  readonly studio?: boolean;
};

/** Serves until it is told to leave. */
export async function serve(flags: ServeFlags, io: Io, outcome: Outcome): Promise<void> {
  // From the start, so that a signal in the midst of it is heard.
  const leave = untilToldToLeave(io);
  const studio = flags.studio ? await neededStudio() : undefined;
  const generation = await openGeneration({ flags, io, studio });
  const onError = errorLog(generation.workspace.home, io);
  const hearNoMore = hearStrayErrors((error) => onError(error, "uncaught"));
  try {
    const { workspace, server } = generation;
    const address = addressOf(flags, io.env, workspace.config.server);
    const listening = await listenAt(server, address);
    for (const notice of workspace.notices) io.stderr.write(`${notice}\n`);
    const isKeyNeeded = await server.keys.areNeeded();
    const served = { title: "Capstan", url: listening.url, workspace, isKeyNeeded, cwd: io.cwd };
    io.stdout.write(announcement({ ...served, hasStudio: studio !== undefined }));
    await leave;
    await listening.close();
    outcome.exitCode = exitCodes.ok;
  } finally {
    hearNoMore();
    await generation.close(0);
  }
}

async function neededStudio(): Promise<string> {
  const studio = await findStudio();
  if (studio !== undefined) return studio;
  const message = "The studio is not installed: `npm install @capstan/studio`, or leave --studio out.";
  throw new AgentError("invalid_definition", message);
}
