import { mkdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { AgentError, type Reads } from "capstan";
import { dataFolder } from "capstan/data-folder";
import { buildIndex, type Progress, type Stock } from "./build-index.ts";
import { fingerprint, folderDocuments, installedPackages, projectDocuments } from "./find-documents.ts";
import { packageFacts } from "./package-facts.ts";
import { type SearchIndex, searchIndex } from "./search-index.ts";

export type LibraryOptions = {
  /** A folder of Markdown or text to search instead of the documentation of this project and its packages. */
  readonly folder?: string;
  /** The project whose docs and packages are searched; by default this one. */
  readonly root?: string;
  /** The folder where the index is kept between starts; `false`: in memory. By default beside the database. */
  readonly keptIn?: string | false;
};

/** The documents that can be searched. */
export interface Library {
  /** What tools that read it say of it. Whoever publishes a package writes its README; one's own documents are private. */
  readonly reads: readonly Reads[];
  /** The index, made when it is first asked for. */
  open(progress?: Progress): Promise<SearchIndex>;
}

const workspace = join(import.meta.dirname, "..", "..", "..");

export function library(options: LibraryOptions = {}): Library {
  let opened: Promise<SearchIndex> | undefined;
  const isOwn = options.folder !== undefined || options.root !== undefined;
  return {
    reads: [isOwn ? "private" : "public", "untrusted"],
    open(progress = () => undefined) {
      opened ??= openIndex(options, progress).catch((error: unknown) => {
        opened = undefined; // what was in the way may be gone when it is asked for again
        throw error;
      });
      return opened;
    },
  };
}

/** Says at once, and in words for whoever gave it, that a folder is none. */
export async function checkFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory()) return;
  const problem = found ? "it is not a folder" : "there is no such folder, or it may not be read";
  throw new AgentError("invalid_definition", `Cannot search "${folder}": ${problem}.`);
}

async function openIndex(options: LibraryOptions, progress: Progress): Promise<SearchIndex> {
  const { keptIn = dataFolder() } = options;
  const stock = await stockOf(options);
  const name = options.folder === undefined ? "knowledge" : "knowledge-folder";
  const file = keptIn === false ? undefined : join(keptIn, `${name}.db`);
  const kept = file && keptIndex(file, stock.fingerprint);
  return searchIndex(
    kept || (await (file ? madeIn(file, stock, progress) : buildIndex(":memory:", stock, progress))),
  );
}

async function stockOf({ folder, root = workspace }: LibraryOptions): Promise<Stock> {
  if (folder !== undefined) await checkFolder(folder);
  const documents = await (folder === undefined ? projectDocuments(root) : folderDocuments(folder));
  if (documents.length === 0)
    throw new AgentError("invalid_input", `There is no Markdown or text file in "${folder ?? root}".`);
  const installed = folder === undefined ? await installedPackages(root) : [];
  const packages = await Promise.all(installed.map(packageFacts));
  return { documents, packages, fingerprint: `1 ${fingerprint(documents)}` };
}

/** The index of before, if it is whole and made of the same documents. */
function keptIndex(file: string, wanted: string): DatabaseSync | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { readOnly: true });
    if (database.prepare("SELECT fingerprint FROM about").get()?.fingerprint === wanted) return database;
  } catch {
    // None there, or none that can be read: it is made anew.
  }
  database?.close();
  return undefined;
}

/** Several processes may do so at the same time: each makes its own, and the last one to finish is kept. */
async function madeIn(file: string, stock: Stock, progress: Progress): Promise<DatabaseSync> {
  const unfinished = `${file}.${process.pid}-${Date.now()}`;
  await mkdir(join(file, ".."), { recursive: true, mode: 0o700 });
  try {
    // SQLite would let everybody read it.
    await writeFile(unfinished, "", { mode: 0o600, flag: "wx" });
    (await buildIndex(unfinished, stock, progress)).close();
    await rename(unfinished, file);
  } finally {
    await rm(unfinished, { force: true });
  }
  return new DatabaseSync(file, { readOnly: true });
}
