import { rm } from "node:fs/promises";
import { join } from "node:path";
import { AgentError, type Json, suggestName, systemClock, toCanonicalJson } from "capstan";
import { checkLoaderSettings, checkLocations } from "./check-locations.ts";
import { createSourceLoading, type DataSource, type SourceLoading } from "./data-source.ts";
import type { DataLoader } from "./loader.ts";
import {
  type CatalogOptions,
  createSourceCatalog,
  type RememberedSource,
  type SourceCatalog,
} from "./source-catalog.ts";
import { getDefaultTitle } from "./source-names.ts";
import { createTurns, type TakeTurn } from "./turns.ts";
import { createUploads, type UploadLimits, type Uploads } from "./uploads.ts";

export type OwnDataOptions = CatalogOptions & {
  /** The loader of each app, by the name of the app's agent. */
  readonly loaders: Readonly<Record<string, DataLoader>>;
  /** Has one folder per source, for uploaded files and the loader's index. */
  readonly folder: string;
  readonly uploadLimits?: UploadLimits;
};

export type NewData = {
  readonly app: string;
  /** Default: the name of the first file or folder. */
  readonly title?: string | undefined;
  /** Absolute paths and URLs. Without any, files are uploaded, and `load` is called then. */
  readonly locations?: readonly string[] | undefined;
  readonly settings?: Readonly<Record<string, Json>> | undefined;
};

/** The user's own data: remembers sources and loads them with the loader of their app. */
export interface OwnData {
  readonly loaders: Readonly<Record<string, DataLoader>>;
  /** Loads everything that is remembered, in the background, and later also what other processes add. */
  start(): void;
  /** Lists the sources, the oldest first. */
  list(): Promise<readonly DataSource[]>;
  /** Returns a source. Rejects with `not_found`. */
  get(name: string): Promise<DataSource>;
  /**
   * Remembers data under a new name, without loading it. The same locations with the same title and settings are one
   * source, which is returned. Rejects with `invalid_input` for a location that does not exist or that the app does not
   * read.
   */
  add(data: NewData): Promise<DataSource>;
  /** Receives one file of a source that was added without locations, and returns its size. */
  upload(name: string, path: string, body: ReadableStream<Uint8Array> | null): Promise<number>;
  /** Starts to load: after an upload, or again after a failure. */
  load(name: string): Promise<DataSource>;
  /** Loads a source if necessary, and resolves when it is `ready` or `failed`. */
  whenLoaded(name: string): Promise<DataSource>;
  /** Closes and forgets a source, and deletes its folder. Sessions, and files that were read in place, are kept. */
  remove(name: string): Promise<void>;
  /** Returns the absolute paths below which the files of a source are. */
  listRoots(name: string): Promise<readonly string[]>;
  /** Calls `listener` with a source whose state has changed, also its progress. Returns a function that ends this. */
  onChange(listener: ChangeListener): () => void;
  close(): Promise<void>;
}

type ChangeListener = (source: DataSource) => void;

/** Opens the own data of a project. Loads nothing yet. Close it after the server. */
export function openOwnData(options: OwnDataOptions): OwnData {
  const { loaders, folder } = options;
  const catalog = createSourceCatalog(options);
  const listeners = new Set<ChangeListener>();
  const sources = createOpenSources(options, catalog, (source) => {
    for (const listener of listeners) listener(source);
  });

  async function startLoading(name: string): Promise<SourceLoading> {
    const { loading, uploads } = await sources.find(name);
    const { state: _, ...source } = loading.read();
    if (source.upload === "open") {
      if ((await uploads.list()).length === 0)
        throw new AgentError("invalid_input", `"${source.title}" has no files yet. Upload them first.`);
      loading.completeUpload();
      await catalog.update({ ...source, upload: "complete" });
    }
    void loading.load();
    return loading;
  }

  return {
    loaders,
    start: sources.start,
    list: sources.list,
    get: async (name) => (await sources.find(name)).loading.read(),
    add: async (data) => sources.add(buildSource(data, loaders)),
    async upload(name, path, body) {
      const { loading, uploads } = await sources.find(name);
      if (loading.read().state.type === "uploading") return uploads.write(path, body);
      const message = `"${name}" takes no more files. Add the data again to upload others.`;
      throw new AgentError("invalid_input", message);
    },
    load: async (name) => (await startLoading(name)).read(),
    async whenLoaded(name) {
      const loading = await startLoading(name);
      await loading.load();
      return loading.read();
    },
    async remove(name) {
      await sources.remove(name);
      await rm(join(folder, name), { recursive: true, force: true });
    },
    async listRoots(name) {
      const { loading, uploads } = await sources.find(name);
      const { upload, locations } = loading.read();
      return upload === undefined ? locations : uploads.list();
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: sources.close,
  };
}

function buildSource(data: NewData, loaders: OwnDataOptions["loaders"]): Omit<RememberedSource, "name"> {
  const { app, title, locations = [], settings = {} } = data;
  const loader = Object.hasOwn(loaders, app) ? loaders[app] : undefined;
  if (!loader) throw createUnknownAppError(app, Object.keys(loaders));
  checkLocations(app, loader, locations);
  checkLoaderSettings(app, loader, settings);
  return {
    ...{ app, locations, settings, addedAt: systemClock.now() },
    title: title?.trim() || getDefaultTitle(locations) || app,
    ...(locations.length === 0 && { upload: "open" }),
  };
}

function createUnknownAppError(app: string, known: readonly string[]): AgentError {
  const hint = suggestName(app, known) || ` Apps that do: ${known.join(", ") || "none"}.`;
  return new AgentError("invalid_input", `The app ${JSON.stringify(app)} does not open own data.${hint}`);
}

type OpenSource = { readonly loading: SourceLoading; readonly uploads: Uploads };

/** The sources of the catalog, as this process has opened them. */
interface OpenSources extends Pick<OwnData, "start" | "list" | "remove" | "close"> {
  find(name: string): Promise<OpenSource>;
  add(source: Omit<RememberedSource, "name">): Promise<DataSource>;
}

/** More would compete for memory: parsers run in workers with a limit each. */
const maxConcurrentLoads = 2;

function createOpenSources(
  options: OwnDataOptions,
  catalog: SourceCatalog,
  onChange: ChangeListener,
): OpenSources {
  const opened = new Map<string, OpenSource>();
  const takeTurn = createTurns(maxConcurrentLoads);
  // The catalog and `opened` change together.
  const change = createTurns(1);
  let isStarted = false;

  function open(source: RememberedSource): OpenSource {
    const one = openSource(source, { ...options, takeTurn, onChange });
    opened.set(source.name, one);
    return one;
  }

  /** Opens the sources that another process has added, and closes removed ones. */
  async function sync(): Promise<void> {
    await change(async () => {
      const remembered = new Map((await catalog.list()).map((source) => [source.name, source]));
      for (const [name, { loading }] of opened)
        if (!remembered.has(name) && opened.delete(name)) void loading.close();
      for (const [name, source] of remembered) if (!opened.has(name)) open(source);
      for (const { loading } of opened.values())
        if (isStarted && loading.read().state.type === "waiting") void loading.load();
    });
  }

  async function find(name: string): Promise<OpenSource> {
    if (!opened.has(name)) await sync();
    const found = opened.get(name);
    if (found) return found;
    const message = `Own data not found: ${JSON.stringify(name)}.${suggestName(name, [...opened.keys()])}`;
    throw new AgentError("not_found", message);
  }

  return {
    start() {
      isStarted = true;
      // If the store cannot be read now, the next list tries again.
      sync().catch(() => undefined);
    },
    async list() {
      await sync();
      const listed = [...opened.values()].map(({ loading }) => loading.read());
      return listed.toSorted((one, other) => one.addedAt - other.addedAt);
    },
    find,
    add: (source) =>
      change(async () => {
        const known = source.upload ? undefined : (await catalog.list()).find((one) => isSame(one, source));
        return (opened.get(known?.name ?? "") ?? open(known ?? (await catalog.add(source)))).loading.read();
      }),
    async remove(name) {
      const { loading } = await find(name);
      await change(async () => {
        await catalog.remove(name);
        opened.delete(name);
      });
      await loading.close();
    },
    async close() {
      await Promise.all([...opened.values()].map(({ loading }) => loading.close()));
    },
  };
}

function isSame(one: RememberedSource, other: Omit<RememberedSource, "name">): boolean {
  const toKey = ({ app, title, locations, settings }: typeof other) =>
    toCanonicalJson([app, title, locations, settings]);
  return toKey(one) === toKey(other);
}

type OpenSourceOptions = OwnDataOptions & { readonly takeTurn: TakeTurn; readonly onChange: ChangeListener };

function openSource(source: RememberedSource, options: OpenSourceOptions): OpenSource {
  const { loaders, takeTurn, onChange } = options;
  const folder = join(options.folder, source.name);
  const uploads = createUploads(folder, options.uploadLimits);
  const loading = createSourceLoading(source, {
    loader: Object.hasOwn(loaders, source.app) ? loaders[source.app] : undefined,
    folder,
    listUploads: uploads.list,
    ...{ takeTurn, onChange },
  });
  return { loading, uploads };
}
