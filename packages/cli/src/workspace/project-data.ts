import { join } from "node:path";
import type { DataSource, OwnData } from "@capstan/server";
import type { Agent, Store } from "capstan";
import { dataFolder } from "capstan/data-folder";
import { formatCounts } from "capstan/sessions";
import type { Project } from "../config/load-project.ts";
import type { Io } from "../io.ts";
import { getProjectFolder } from "../sessions/session-projects.ts";
import { escapeTerminalLine } from "../terminal/escape-terminal.ts";

/** Opens the own data of a project; undefined if its config has no loaders. Nothing is loaded yet. */
export async function openProjectData(
  { config, configFile }: Pick<Project, "config" | "configFile">,
  store: Store,
  io: Io,
): Promise<OwnData | undefined> {
  if (!config.data) return undefined;
  const { openOwnData } = await import("@capstan/server");
  return openOwnData({
    store,
    loaders: config.data,
    folder: join(dataFolder(io.env), "own-data"),
    reservedNames: config.agents?.map(({ name }) => name) ?? [],
    project: getProjectFolder(configFile, io.cwd),
  });
}

/** Loads the agents on own data with this name, with progress on stderr; none if the name is not one of own data. */
export async function loadDataAgents(
  data: OwnData,
  name: string | undefined,
  io: Io,
): Promise<readonly Agent[]> {
  if (name === undefined || !(await data.list()).some((source) => source.name === name)) return [];
  return loadWithProgress(data, name, io);
}

const maxSkipped = 20;

/** Loads data and says on stderr how far it is, what was read, and what was skipped. Rejects if it fails. */
export async function loadWithProgress(data: OwnData, name: string, io: Io): Promise<readonly Agent[]> {
  const progress = createProgressLine(io);
  const unwatch = data.onChange((source) => {
    if (source.name === name) progress.show(source);
  });
  try {
    const { state } = await data.whenLoaded(name);
    progress.clear();
    if (state.type === "failed") throw state.error;
    if (state.type !== "ready") return []; // removed meanwhile
    io.stderr.write(formatReport(name, state.loaded.report()));
    return state.loaded.agents;
  } finally {
    unwatch();
  }
}

type Report = Extract<DataSource["state"], { readonly type: "ready" }>["loaded"]["report"];

function formatReport(name: string, { counts, skipped }: ReturnType<Report>): string {
  const lines = skipped
    .slice(0, maxSkipped)
    .map(({ item, reason }) => `  ${escapeTerminalLine(item)}: ${escapeTerminalLine(reason)}`);
  const rest = skipped.length - lines.length;
  return [
    `${name}: ${formatCounts(counts) || "nothing"} read${skipped.length > 0 ? `, ${skipped.length} skipped:` : "."}`,
    ...lines,
    ...(rest > 0 ? [`  … and ${rest} more`] : []),
    "",
  ].join("\n");
}

/** One line that is replaced on a terminal, and otherwise one plain line at the start. */
function createProgressLine({ stderr }: Io) {
  let isShown = false;
  return {
    show({ title, state }: DataSource): void {
      if (state.type !== "loading" || (isShown && !stderr.isTTY)) return;
      const { done, total, item } = state.progress ?? { done: 0 };
      const far = total === undefined ? "" : `: ${done} of ${total}`;
      const line = escapeTerminalLine(`Loading ${title}${far}${item === undefined ? "" : ` (${item})`}`);
      stderr.write(
        stderr.isTTY ? `\r\u001b[K${line.slice(0, (stderr.columns ?? 80) - 1)}` : `Loading ${title}…\n`,
      );
      isShown = true;
    },
    clear(): void {
      if (isShown && stderr.isTTY) stderr.write("\r\u001b[K");
    },
  };
}
