import { join } from "node:path";
import { escapeInvisible } from "capstan";
import { configNames } from "../config/load-project.ts";
import { shortPath } from "./announcement.ts";
import type { FreshModules } from "./fresh-modules.ts";
import type { Front } from "./reloadable-server.ts";
import { type Generation, type GenerationOptions, openGeneration } from "./server-instance.ts";
import { type FileWatch, watchFiles } from "./watch-files.ts";

type Reload = GenerationOptions & {
  readonly front: Front;
  readonly modules: FreshModules;
};

/** Puts a new generation in place whenever the configuration, or what it is made of, is changed. */
export function reloadOnChange({ front, modules, ...options }: Reload): FileWatch {
  const { io } = options;
  let tail = Promise.resolve();
  const watching = watchFiles(() => {
    tail = tail.then(reload);
  });
  const watchAll = () => {
    const { configFile } = front.current().workspace;
    // One that does not exist yet counts as well.
    const possible = [...configNames, ".mcp.json"].map((name) => join(io.cwd, name));
    watching.add([...possible, ...(configFile === undefined ? [] : [configFile]), ...modules.files()]);
  };

  async function reload(): Promise<void> {
    modules.renew();
    try {
      const next = await openGeneration(options);
      tell(front.current(), next);
      front.replace(next);
    } catch (error) {
      io.stderr.write(
        `Not reloaded, what was there before goes on: ${escapeInvisible(error instanceof Error ? error.message : String(error))}\n`,
      );
    }
    watchAll();
  }
  function tell(old: Generation, next: Generation): void {
    const { configFile, agents, notices, config } = next.workspace;
    const what = configFile === undefined ? "without a configuration" : shortPath(configFile, io.cwd);
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
