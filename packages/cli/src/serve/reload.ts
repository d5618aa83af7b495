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

/** Replaces the server instance when the config, or a file it imports, changes. */
export function reloadOnChange({ front, modules, ...options }: ReloadOptions): FileWatch {
  const { io } = options;
  let tail = Promise.resolve();
  const watching = watchFiles(() => {
    tail = tail.then(reload);
  });
  const watchAll = () => {
    const { configFile, skills } = front.getCurrent().workspace;
    // Also watches config files that do not exist yet.
    const possible = [...configNames, ".mcp.json"].map((name) => join(io.cwd, name));
    const named = configFile === undefined ? [] : [configFile];
    watching.add([...possible, ...named, ...modules.listFiles(), ...(skills?.listFiles() ?? [])]);
  };

  async function reload(): Promise<void> {
    modules.invalidate();
    try {
      const acceptChanges = front.getCurrent().workspace.isTrusted;
      const next = await openServerInstance({ ...options, flags: { ...options.flags, acceptChanges } });
      await next.startWork();
      tell(front.getCurrent(), next);
      front.replace(next);
    } catch (error) {
      io.stderr.write(
        `Reload failed, still using the previous config: ${escapeInvisible(error instanceof Error ? error.message : String(error))}\n`,
      );
    }
    watchAll();
  }
  function tell(old: ServerInstance, next: ServerInstance): void {
    const { configFile, agents, notices, config } = next.workspace;
    const what = configFile === undefined ? "without a config" : shortenPath(configFile, io.cwd);
    const names = agents.map(({ name }) => name).join(", ");
    io.stderr.write(`Reloaded ${what}: new runs use ${escapeInvisible(names)}.\n`);
    for (const notice of notices) if (!old.workspace.notices.includes(notice)) io.stderr.write(`${notice}\n`);
    const { port, host } = old.workspace.config.server ?? {};
    if (port !== config.server?.port || host !== config.server?.host)
      io.stderr.write("The port or host in the config has changed: restart to apply it.\n");
  }
  watchAll();
  return watching;
}
