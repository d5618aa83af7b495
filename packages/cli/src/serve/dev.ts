import type { Outcome } from "../commands/command.ts";
import { hearStrayErrors } from "../errors/unhandled-errors.ts";
import { exitCodes } from "../exit-code.ts";
import type { Io } from "../io.ts";
import { addressOf } from "./address.ts";
import { announcement } from "./announcement.ts";
import { errorLog } from "./error-log.ts";
import { freshModules } from "./fresh-modules.ts";
import { canOpenBrowser, openBrowser } from "./open-browser.ts";
import { reloadOnChange } from "./reload.ts";
import { frontOf } from "./reloadable-server.ts";
import type { ServeFlags } from "./serve.ts";
import { openGeneration } from "./server-instance.ts";
import { startPage } from "./start-page.ts";
import { listenNear } from "./start-server.ts";
import { findStudio } from "./studio.ts";
import { untilToldToLeave } from "./wait-for-shutdown.ts";

/** What `dev` is told. */
export type DevFlags = ServeFlags & { readonly open: boolean };

/** Serves for whoever writes the agents, until it is told to leave. */
export async function dev(flags: DevFlags, io: Io, outcome: Outcome): Promise<void> {
  const leave = untilToldToLeave(io);
  // Before the configuration is imported for the first time.
  const modules = freshModules();
  const studio = await findStudio();
  const first = await openGeneration({ flags, io, studio });
  const front = frontOf(first, startPage);
  const onError = errorLog(first.workspace.home, io);
  const hearNoMore = hearStrayErrors((error) => onError(error, "uncaught"));
  try {
    const { workspace } = first;
    const address = addressOf(flags, io.env, workspace.config.server);
    const listening = await listenNear(front.server, address);
    const watching = reloadOnChange({ flags, io, studio, front, modules });
    for (const notice of workspace.notices) io.stderr.write(`${notice}\n`);
    if (address.port !== undefined && address.port !== 0 && listening.port !== address.port)
      io.stderr.write(`The port ${address.port} is in use, so it is ${listening.port}.\n`);
    const isKeyNeeded = await front.server.keys.areNeeded();
    io.stdout.write(
      announcement({
        ...{ title: "Capstan", url: listening.url, workspace, isKeyNeeded, cwd: io.cwd },
        ...{ isWatched: true, hasStudio: studio !== undefined },
      }),
    );
    // Behind the "#" no log and no other server sees the code that signs the browser in, once.
    const code = isKeyNeeded ? `/#code=${front.server.oneTimeCode()}` : "";
    if (flags.open && canOpenBrowser(io)) openBrowser(`${listening.url}${code}`, io);
    await leave;
    watching.close();
    await listening.close();
    outcome.exitCode = exitCodes.ok;
  } finally {
    hearNoMore();
    await front.server.close(0);
  }
}
