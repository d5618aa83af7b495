import type { CommandOutcome } from "../commands/command.ts";
import type { Config } from "../config/config.ts";
import { onUnhandledError } from "../errors/unhandled-errors.ts";
import { exitCodes } from "../exit-code.ts";
import type { Io } from "../io.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { resolveAddress } from "./address.ts";
import { formatAnnouncement } from "./announcement.ts";
import { createErrorLog } from "./error-log.ts";
import { createModuleReloader } from "./fresh-modules.ts";
import { canOpenBrowser, openBrowser } from "./open-browser.ts";
import { reloadOnChange } from "./reload.ts";
import { createReloadableServer } from "./reloadable-server.ts";
import type { ServeFlags } from "./serve.ts";
import { openServerInstance } from "./server-instance.ts";
import { withStartPage } from "./start-page.ts";
import { listenNearPort } from "./start-server.ts";
import { explainMissingStudio, findStudio } from "./studio.ts";
import { waitForShutdown } from "./wait-for-shutdown.ts";
import type { FileWatch } from "./watch-files.ts";

/** Flags of `capstan dev`. */
export type DevFlags = ServeFlags & { readonly open: boolean };

export type DevContext = {
  readonly io: Io;
  readonly outcome: CommandOutcome;
  readonly preparePage?: PreparePage;
};

/** Prepares what the browser shows. Returns the path of its page. */
export type PreparePage = (workspace: Workspace) => Promise<string>;

const addresses: readonly (string | undefined)[] = [undefined, "127.0.0.1", "localhost", "::1"];

/** Runs the development server until a shutdown signal. `preparePage` is called once it listens. */
export async function dev(flags: DevFlags, { io, outcome, preparePage }: DevContext): Promise<void> {
  const leave = waitForShutdown(io);
  // Must be registered before the config is imported.
  const modules = createModuleReloader();
  const studio = await findStudio();
  const missing = studio === undefined ? await explainMissingStudio() : undefined;
  const isLocal = ({ server }: Config) =>
    addresses.includes(resolveAddress(flags, io.env, server).host?.toLowerCase());
  let watching: FileWatch | undefined;
  // A server that was added in the studio is already running.
  const onMcpChange = (path: string) => watching?.accept([path]);
  const options = { flags, io, studio, isLocal, isTrial: true, changesMcp: true, onMcpChange };
  const first = await openServerInstance(options);
  const front = createReloadableServer(first, (request, response) =>
    withStartPage(request, response, missing),
  );
  const onError = createErrorLog(first.workspace.home, io);
  const hearNoMore = onUnhandledError((error) => onError(error, "uncaught"));
  try {
    const { workspace } = first;
    const address = resolveAddress(flags, io.env, workspace.config.server);
    const listening = await listenNearPort(front.server, address);
    watching = reloadOnChange({ ...options, front, modules });
    const engineLines = await first.startWork();
    for (const notice of [...workspace.notices, ...engineLines]) io.stderr.write(`${notice}\n`);
    if (address.port !== undefined && address.port !== 0 && listening.port !== address.port)
      io.stderr.write(`Port ${address.port} is in use; using ${listening.port}.\n`);
    const isKeyNeeded = await front.server.keys.areNeeded();
    io.stdout.write(
      formatAnnouncement({
        ...{ title: "Capstan", url: listening.url, workspace, isKeyNeeded, cwd: io.cwd },
        ...{ isWatched: true, studio: missing ?? listening.url },
      }),
    );
    try {
      const page = preparePage ? await Promise.race([preparePage(workspace), leave]) : "/";
      // The one-time sign-in code is in the fragment, which is never sent to a server or logged.
      const code = isKeyNeeded ? `#code=${front.server.oneTimeCode()}` : "";
      if (page !== undefined && flags.open && canOpenBrowser(io))
        openBrowser(`${listening.url}${page}${code}`, io);
      await leave;
    } finally {
      watching?.close();
      await listening.close();
    }
    outcome.exitCode = exitCodes.ok;
  } finally {
    hearNoMore();
    await front.server.close(0);
  }
}
