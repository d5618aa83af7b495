import { mkdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { AgentError, type Model, type Reads } from "capstan";
import { dataFolder } from "capstan/data-folder";
import { buildIndex, type IndexSource, type Progress } from "./build-index.ts";
import {
  computeFingerprint,
  findFolderDocuments,
  findProjectDocuments,
  listInstalledPackages,
} from "./find-documents.ts";
import { readPackageFacts } from "./package-facts.ts";
import { createSearchIndex, type SearchIndex } from "./search-index.ts";
import { createSemanticSearch, type SemanticSearch } from "./semantic-search.ts";
import { createVectorStore } from "./vector-store.ts";

export type LibraryOptions = {
  /** A folder of Markdown or text files to search instead of this project and its packages. */
  readonly folder?: string;
  /** The project whose docs and packages are searched. Defaults to this one. */
  readonly root?: string;
  /** Folder for the index, or `false` to keep it in memory. Defaults to the data folder. */
  readonly indexFolder?: string | false;
  /** Searches by meaning too, with this embedding model. Defaults to none: only words are searched. */
  readonly embeddings?: Model | string | undefined;
};

export interface Library {
  /** Labels for tools that read the library. READMEs of packages are untrusted; the user's own documents are also private. */
  readonly reads: readonly Reads[];
  /** Returns the index, which is built on first use. */
  open(progress?: Progress): Promise<SearchIndex>;
  /** Searches by meaning. Missing without an embedding model. */
  readonly semantic?: SemanticSearch;
}

const workspace = join(import.meta.dirname, "..", "..", "..");

export function createLibrary(options: LibraryOptions = {}): Library {
  let indexPromise: Promise<SearchIndex> | undefined;
  const semantic = createSemantic(options);
  const isPrivate = options.folder !== undefined || options.root !== undefined;
  return {
    reads: [isPrivate ? "private" : "public", "untrusted"],
    open(progress = () => undefined) {
      indexPromise ??= openIndex(options, progress).catch((error: unknown) => {
        indexPromise = undefined; // try again next time
        throw error;
      });
      return indexPromise;
    },
    ...(semantic && { semantic }),
  };
}

function createSemantic({ embeddings: model, indexFolder }: LibraryOptions): SemanticSearch | undefined {
  if (model === undefined) return undefined;
  if (indexFolder === false) return createSemanticSearch({ model });
  const file = join(indexFolder ?? dataFolder(), "knowledge-vectors.db");
  return createSemanticSearch({ model, cache: createVectorStore(file) });
}

/** Throws if the folder does not exist or is not a folder. */
export async function checkFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory()) return;
  const problem = found ? "it is not a folder" : "the folder does not exist or cannot be read";
  throw new AgentError("invalid_definition", `Cannot search "${folder}": ${problem}.`);
}

async function openIndex(options: LibraryOptions, progress: Progress): Promise<SearchIndex> {
  const { indexFolder = dataFolder() } = options;
  const source = await findSource(options);
  const name = options.folder === undefined ? "knowledge" : "knowledge-folder";
  const file = indexFolder === false ? undefined : join(indexFolder, `${name}.db`);
  const storedIndex = file && openStoredIndex(file, source.fingerprint);
  return createSearchIndex(
    storedIndex ||
      (await (file ? buildStoredIndex(file, source, progress) : buildIndex(":memory:", source, progress))),
  );
}

async function findSource({ folder, root = workspace }: LibraryOptions): Promise<IndexSource> {
  if (folder !== undefined) await checkFolder(folder);
  const documents = await (folder === undefined ? findProjectDocuments(root) : findFolderDocuments(folder));
  if (documents.length === 0)
    throw new AgentError("invalid_input", `No Markdown or text files found in "${folder ?? root}".`);
  const installed = folder === undefined ? await listInstalledPackages(root) : [];
  const packages = await Promise.all(installed.map(readPackageFacts));
  return { documents, packages, fingerprint: `1 ${computeFingerprint(documents)}` };
}

/** Opens the stored index if it is valid and matches the current documents. */
function openStoredIndex(file: string, fingerprint: string): DatabaseSync | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { readOnly: true });
    if (database.prepare("SELECT fingerprint FROM about").get()?.fingerprint === fingerprint) return database;
  } catch {
    // Missing or unreadable: build a new one.
  }
  database?.close();
  return undefined;
}

/** Safe for concurrent processes: each builds its own file, and the last one to finish wins. */
async function buildStoredIndex(
  file: string,
  source: IndexSource,
  progress: Progress,
): Promise<DatabaseSync> {
  const temporaryFile = `${file}.${process.pid}-${Date.now()}`;
  await mkdir(join(file, ".."), { recursive: true, mode: 0o700 });
  try {
    // SQLite would create a file that other users can read.
    await writeFile(temporaryFile, "", { mode: 0o600, flag: "wx" });
    (await buildIndex(temporaryFile, source, progress)).close();
    await rename(temporaryFile, file);
  } finally {
    await rm(temporaryFile, { force: true });
  }
  return new DatabaseSync(file, { readOnly: true });
}
