import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { DataSource, OwnData } from "@capstan/server";
import { AgentError, type Json, suggestName } from "capstan";
import { userFolder } from "capstan/data-folder";
import { findUpwards } from "../../config/find-upwards.ts";
import { configNames, loadProject } from "../../config/load-project.ts";
import type { Io } from "../../io.ts";
import { formatAge } from "../../output/format-age.ts";
import { formatJson } from "../../output/format-json.ts";
import { type Column, formatTable } from "../../output/format-table.ts";
import { shortenPath } from "../../serve/announcement.ts";
import type { DevContext, DevFlags } from "../../serve/dev.ts";
import { openStore, resolveDatabase } from "../../workspace/open-store.ts";
import { loadWithProgress, openProjectData } from "../../workspace/project-data.ts";
import type { WorkspaceFlags } from "../../workspace/workspace.ts";
import type { StartFlags } from "../start-flags.ts";

export type AppFlags = StartFlags &
  DevFlags & {
    readonly title?: string;
    readonly set: Readonly<Record<string, Json>>;
    readonly chat?: boolean;
  };

const appConfigNames: readonly string[] = [...configNames, ...configNames.map((name) => `apps/${name}`)];

/** The apps next to this program in a checkout of the repository, which are trusted as the program itself is. */
const ownConfig = fileURLToPath(new URL("../../../../../apps/capstan.config.ts", import.meta.url));
/** A published package has no TypeScript. */
const isCheckout = import.meta.filename.endsWith(".ts");

/** The nearest config, or else the apps of the checkout: they open from every folder. */
function withAppConfig<Flags extends WorkspaceFlags>(flags: Flags, { cwd, env }: Io): Flags {
  const named = { ...flags, configNames: appConfigNames };
  const isFound = findUpwards(appConfigNames, { from: cwd, home: userFolder(env) }) !== undefined;
  return flags.config !== undefined || isFound || !isCheckout ? named : { ...named, config: ownConfig };
}

/** `capstan app`: lists the apps that open own data, and the data they were opened on. */
export async function listApps(flags: WorkspaceFlags & { readonly json?: boolean }, io: Io): Promise<void> {
  await withData(flags, io, async (data) => {
    const apps = Object.entries(data.loaders).map(([app, { description, extensions }]) => ({
      ...{ app, description, extensions },
    }));
    const sources = (await data.list()).map(({ state: _, ...source }) => source);
    if (flags.json) return void io.stdout.write(formatJson({ apps, sources }));
    io.stdout.write(formatTable(apps, appColumns, io));
    const hint = "\nNo data yet. Add some: capstan app <app> <files and folders…>\n";
    io.stdout.write(sources.length === 0 ? hint : `\n${formatTable(sources, getSourceColumns(io), io)}`);
  });
}

const appColumns: readonly Column<{ readonly app: string; readonly description: string }>[] = [
  { name: "APP", value: ({ app }) => app },
  { name: "READS", value: ({ description }) => description, shrinks: true },
];

type Remembered = Omit<DataSource, "state">;

function getSourceColumns({ cwd }: Io): readonly Column<Remembered>[] {
  return [
    { name: "NAME", value: ({ name }) => name },
    { name: "TITLE", value: ({ title }) => title, optional: true },
    { name: "DATA", value: (source) => formatLocations(source, cwd), shrinks: true },
    { name: "ADDED", value: ({ addedAt }) => formatAge(addedAt) },
  ];
}

function formatLocations({ upload, locations }: Remembered, cwd: string): string {
  if (upload !== undefined) return upload === "open" ? "unfinished upload" : "uploaded files";
  return locations.map((location) => shortenPath(location, cwd)).join(", ");
}

export type AppRequest = { readonly name: string; readonly paths: readonly string[] };

/** `capstan app <app> <paths…>`: remembers the data, loads it, and opens the studio, the chat, or prints one answer. */
export async function openApp(request: AppRequest, flags: AppFlags, context: DevContext): Promise<void> {
  const { io } = context;
  const found = withAppConfig(flags, io);
  if (flags.chat || flags.print !== undefined) return openInTerminal(request, found, context);
  const rememberRequest = (data: OwnData | undefined) => rememberData(request, data, { flags, io });
  let agent = "";
  const { dev } = await import("../../serve/dev.ts");
  const prepareData = async (data: OwnData | undefined) => {
    agent = await rememberRequest(data);
    return undefined; // the server keeps its default agent
  };
  const preparePage: DevContext["preparePage"] = async ({ data }) => {
    if (data) await loadWithProgress(data, agent, io);
    return `/?agent=${encodeURIComponent(agent)}`;
  };
  await dev({ ...found, prepareData }, { ...context, preparePage });
}

/** New data that cannot be loaded is forgotten: the next attempt usually names other paths or settings. */
async function openInTerminal(
  request: AppRequest,
  flags: AppFlags,
  { io, outcome }: DevContext,
): Promise<void> {
  let failedName: string | undefined;
  const prepareData = async (data: OwnData | undefined) => {
    const earlier = (await data?.list()) ?? [];
    const name = await rememberData(request, data, { flags, io });
    data?.onChange((source) => {
      const isNew = !earlier.some((one) => one.name === name);
      if (isNew && source.name === name && source.state.type === "failed") failedName = name;
    });
    return name;
  };
  const { start } = await import("../start.ts");
  try {
    outcome.exitCode = await start({ ...flags, prepareData }, io);
  } finally {
    const name = failedName;
    if (name !== undefined) await withData(flags, io, (data) => data.remove(name));
  }
}

/** Returns the name of the data, which is remembered unless it was already. */
async function rememberData(
  { name, paths }: AppRequest,
  data: OwnData | undefined,
  { flags: { title, set }, io }: { readonly flags: AppFlags; readonly io: Io },
): Promise<string> {
  if (!data) throw createNoDataError();
  const names = (await data.list()).map((source) => source.name);
  if (paths.length === 0 && names.includes(name)) return name;
  const apps = Object.keys(data.loaders);
  if (!apps.includes(name)) {
    const hint = suggestName(name, [...apps, ...names]) || ` Apps: ${apps.join(", ")}.`;
    throw new AgentError("invalid_input", `No app and no data is named "${name}".${hint}`);
  }
  if (paths.length === 0) {
    const message = `Name the files or folders for ${name}: capstan app ${name} <paths…>. It reads ${data.loaders[name]?.description}.`;
    throw new AgentError("invalid_input", message);
  }
  const locations = paths.map((path) => resolveLocation(path, io));
  const source = await data.add({ app: name, title, locations, settings: set });
  return source.name;
}

/** A quoted `~` reaches the program as it is. */
function resolveLocation(path: string, { cwd, env }: Io): string {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(path)) return path;
  return resolve(
    cwd,
    path.replace(/^~(?=$|[/\\])/, () => userFolder(env)),
  );
}

/** `capstan app remove <name>`. */
export async function removeData(name: string, flags: WorkspaceFlags, io: Io): Promise<void> {
  await withData(flags, io, (data) => data.remove(name));
  io.stdout.write(`Removed ${name}. Its sessions and your files are kept.\n`);
}

/** Opens the own data of the project, without agents and servers, while `use` runs. */
async function withData<Value>(
  flags: WorkspaceFlags,
  io: Io,
  use: (data: OwnData) => Promise<Value>,
): Promise<Value> {
  const project = await loadProject(withAppConfig(flags, io), io, "required");
  const { store } = await openStore(resolveDatabase(flags, project, io));
  try {
    const data = await openProjectData(project, store, io);
    if (!data) throw createNoDataError();
    try {
      return await use(data);
    } finally {
      await data.close();
    }
  } finally {
    await store.close();
    await project.config.close?.();
  }
}

function createNoDataError(): AgentError {
  const message =
    "No app opens own data here. Run this command in a folder of the Capstan repository, or add `data` with a loader per app to your capstan.config.ts: see docs/own-data.md.";
  return new AgentError("invalid_definition", message);
}
