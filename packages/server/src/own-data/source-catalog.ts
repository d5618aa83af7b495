// Sources are remembered as records of kind "data", one per source, by the name of its agent.
import { isRecord, type Json, type Store } from "capstan";
import { buildSourceName } from "./source-names.ts";

/** Own data that an app was opened on. */
export type RememberedSource = {
  /** The name of its agent, and its id. */
  readonly name: string;
  /** The name of the app's agent. */
  readonly app: string;
  readonly title: string;
  /** Absolute paths of files and folders, or URLs; empty for an upload, whose files are in the source's own folder. */
  readonly locations: readonly string[];
  readonly settings: Readonly<Record<string, Json>>;
  readonly addedAt: number;
  /** Files are uploaded until it is `complete`. Undefined for data that is read in place. */
  readonly upload?: "open" | "complete";
};

export type CatalogOptions = {
  /** Remembers the sources. Use the store of the server. */
  readonly store: Pick<Store, "getRecord" | "listRecords" | "putRecord" | "removeRecord">;
  /** Names of other agents, which no source gets. */
  readonly reservedNames?: readonly string[];
  /** Projects may share a store: only sources of this one are opened. Default: "". */
  readonly project?: string;
};

export interface SourceCatalog {
  list(): Promise<readonly RememberedSource[]>;
  /** Stores a source under the first name that is free in all projects of the store. */
  add(source: Omit<RememberedSource, "name">): Promise<RememberedSource>;
  update(source: RememberedSource): Promise<void>;
  remove(name: string): Promise<void>;
}

const kind = "data";

export function createSourceCatalog({
  store,
  reservedNames = [],
  project = "",
}: CatalogOptions): SourceCatalog {
  const isTaken = async (name: string) =>
    reservedNames.includes(name) ||
    (await store.getRecord("agent", name)) !== undefined ||
    (await store.getRecord(kind, name)) !== undefined;

  return {
    async list() {
      const records = await store.listRecords(kind);
      return records.flatMap((record) => parseRecord(record, project) ?? []);
    },
    async add(source) {
      for (let attempt = 1; ; attempt++) {
        const name = buildSourceName(source.app, source.title, attempt);
        if (await isTaken(name)) continue;
        await store.putRecord({ kind, id: name, body: toSourceBody(source, project) }, 0);
        return { ...source, name };
      }
    },
    async update({ name, ...source }) {
      const { version = 0 } = (await store.getRecord(kind, name)) ?? {};
      await store.putRecord({ kind, id: name, body: toSourceBody(source, project), replaces: true }, version);
    },
    async remove(name) {
      const record = await store.getRecord(kind, name);
      if (record) await store.removeRecord(kind, name, record.version);
    },
  };
}

const toSourceBody = (source: Omit<RememberedSource, "name">, project: string): Json => ({
  ...source,
  project,
});

/** Returns undefined for the source of another project, and for a record that this version cannot read. */
function parseRecord(
  { id, body }: { readonly id: string; readonly body: Json },
  project: string,
): RememberedSource | undefined {
  if (!isRecord(body) || body.project !== project) return undefined;
  const { app, title, locations, settings, addedAt, upload } = body;
  if (typeof app !== "string" || typeof title !== "string" || typeof addedAt !== "number") return undefined;
  if (!Array.isArray(locations) || !isRecord(settings)) return undefined;
  return {
    ...{ name: id, app, title, addedAt },
    locations: locations.filter((location) => typeof location === "string"),
    settings: settings as RememberedSource["settings"],
    ...((upload === "open" || upload === "complete") && { upload }),
  };
}
