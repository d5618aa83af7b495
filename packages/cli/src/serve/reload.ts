import { join } from "node:path";
import { escapeInvisible } from "capstan";
import { configNames } from "../config/load-project.ts";
import { shortenPath } from "./announcement.ts";
import type { ModuleReloader } from "./fresh-modules.ts";
import type { ReloadableServer } from "./reloadable-server.ts";
import { openServerInstance, type ServerInstance, type ServerInstanceOptions } from "./server-instance.ts";
import { type FileWatch, watchFiles } from "./watch-files.ts";

type ReloadOptions = ServerInstanceOptions & {
  readonly front: ReloadableServer;
  readonly modules: ModuleReloader;
};

/** Puts a new generation in place whenever the configuration, or what it is made of, is changed. */
export function reloadOnChange({ front, modules, ...options }: ReloadOptions): FileWatch {
  const { io } = options;
  let tail = Promise.resolve();
  const watching = watchFiles(() => {
    tail = tail.then(reload);
  });
  const watchAll = () => {
    const { configFile } = front.getCurrent().workspace;
    // One that does not exist yet counts as well.
    const possible = [...configNames, ".mcp.json"].map((name) => join(io.cwd, name));
    watching.add([...possible, ...(configFile === undefined ? [] : [configFile]), ...modules.listFiles()]);
  };

  async function reload(): Promise<void> {
    modules.invalidate();
    try {
      const next = await openServerInstance(options);
      tell(front.getCurrent(), next);
      front.replace(next);
    } catch (error) {
      io.stderr.write(
        `Not reloaded, what was there before goes on: ${escapeInvisible(error instanceof Error ? error.message : String(error))}\n`,
      );
    }
    watchAll();
  }
  function tell(old: ServerInstance, next: ServerInstance): void {
    const { configFile, agents, notices, config } = next.workspace;
    const what = configFile === undefined ? "without a configuration" : shortenPath(configFile, io.cwd);
    const names = agents.map(({ name }) => name).join(", ");
    io.stderr.write(`Reloaded ${what}: new runs use ${escapeInvisible(names)}.\n`);
    for (const notice of notices) if (!old.workspace.notices.includes(notice)) io.stderr.write(`${notice}\n`);
    const { port, host } = old.workspace.config.server ?? {};
    if (port !== config.server?.port || host !== config.server?.host)
      io.stderr.write("Where it listens has changed in the configuration: start it again for that.\n");
  }
  watchAll();
  return watching;
}
