import { mkdir } from "node:fs/promises";
import { AgentError, errorCodes } from "capstan";
import type { DataLoader, LoadedData, LoadProgress } from "./loader.ts";
import type { RememberedSource } from "./source-catalog.ts";

/** How far a source is in this process. */
export type SourceState =
  | { readonly type: "uploading" }
  | { readonly type: "waiting" }
  | { readonly type: "loading"; readonly progress?: LoadProgress }
  | { readonly type: "ready"; readonly loaded: LoadedData }
  | { readonly type: "failed"; readonly error: AgentError };

/** A remembered source and its state. */
export type DataSource = RememberedSource & { readonly state: SourceState };

export type SourceOptions = {
  /** Undefined if the app no longer reads own data. */
  readonly loader: DataLoader | undefined;
  /** The loader's own folder. */
  readonly folder: string;
  /** Waits for a turn: parsing many sources at once would take too much memory. */
  takeTurn<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Returns the locations of an upload. */
  listUploads(): Promise<readonly string[]>;
  onChange(source: DataSource): void;
};

/** Loads one source, and again after a failure. */
export interface SourceLoading {
  read(): DataSource;
  /** Starts loading unless the data is loading or loaded. Settles when that has ended; never rejects. */
  load(): Promise<void>;
  completeUpload(): void;
  /** Aborts loading, or closes what was loaded. */
  close(): Promise<void>;
}

export function createSourceLoading(remembered: RememberedSource, options: SourceOptions): SourceLoading {
  const controller = new AbortController();
  const { signal } = controller;
  let source = remembered;
  let state: SourceState = { type: source.upload === "open" ? "uploading" : "waiting" };
  let attempt: Promise<void> | undefined;

  function change(next: SourceState): void {
    state = next;
    options.onChange({ ...source, state });
  }

  async function loadNow(): Promise<void> {
    if (signal.aborted) return;
    const { loader, folder } = options;
    try {
      if (!loader) throw createNoLoaderError(source);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const locations = source.upload === undefined ? source.locations : await options.listUploads();
      const { name, title, settings } = source;
      const loaded = await loader.load({
        ...{ name, title, locations, settings, folder, signal },
        onProgress: (progress) => state.type === "loading" && change({ type: "loading", progress }),
      });
      if (signal.aborted) return await loaded.close?.();
      checkNames(loaded, name);
      change({ type: "ready", loaded });
    } catch (thrown) {
      if (!signal.aborted) change({ type: "failed", error: toLoadError(thrown, source) });
    }
  }

  return {
    read: () => ({ ...source, state }),
    load() {
      if (state.type === "ready" || state.type === "loading") return attempt ?? Promise.resolve();
      change({ type: "loading" });
      attempt = options.takeTurn(loadNow);
      return attempt;
    },
    completeUpload() {
      source = { ...source, upload: "complete" };
    },
    async close() {
      controller.abort();
      await attempt;
      if (state.type === "ready") await state.loaded.close?.();
    },
  };
}

function checkNames({ agents }: LoadedData, name: string): void {
  const names = agents.map((agent) => agent.name);
  if (names[0] === name && names.every((each) => each.startsWith(name))) return;
  const message = `The loader of "${name}" must name its first agent "${name}", and others "${name}-…". It returned ${names.join(", ") || "none"}.`;
  throw new AgentError("invalid_definition", message);
}

function createNoLoaderError({ app }: RememberedSource): AgentError {
  const message = `The app "${app}" does not open own data here. Add it to \`data\` in the config, or remove this data.`;
  return new AgentError("data_failed", message);
}

/** Keeps the error of a loader; other errors get the code `data_failed`. */
function toLoadError(thrown: unknown, { title }: RememberedSource): AgentError {
  if (thrown instanceof Error && thrown.name === "AgentError" && isCode(thrown)) return thrown as AgentError;
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  return new AgentError("data_failed", `Cannot load "${title}": ${why}`, { cause: thrown });
}

const isCode = (error: Error): boolean => Object.hasOwn(errorCodes, String((error as AgentError).code));
