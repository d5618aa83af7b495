import type { Outcome } from "../command.ts";
import { exitCodes } from "../exit-code.ts";
import type { Io } from "../io.ts";
import type { WorkspaceFlags } from "../workspace.ts";
import { addressOf } from "./address.ts";
import { announcement } from "./announcement.ts";
import { openGeneration } from "./generation.ts";
import { listenAt } from "./start-server.ts";
import { untilToldToLeave } from "./until-told-to-leave.ts";

/** What `serve` and `dev` are told. */
export type ServeFlags = WorkspaceFlags & { readonly port?: string; readonly host?: string };

/** Serves until it is told to leave. */
export async function serve(flags: ServeFlags, io: Io, outcome: Outcome): Promise<void> {
  // From the start, so that a signal in the midst of it is heard.
  const leave = untilToldToLeave(io);
  const generation = await openGeneration({ flags, io });
  try {
    const { workspace, server } = generation;
    const address = addressOf(flags, io.env, workspace.config.server);
    const listening = await listenAt(server, address);
    for (const notice of workspace.notices) io.stderr.write(`${notice}\n`);
    const isKeyNeeded = await server.keys.areNeeded();
    const title = "Capstan";
    io.stdout.write(announcement({ title, url: listening.url, workspace, isKeyNeeded, cwd: io.cwd }));
    await leave;
    await listening.close();
    outcome.exitCode = exitCodes.ok;
  } finally {
    await generation.close(0);
  }
}
