import { join } from "node:path";
import { AgentError, type Model, type Reads } from "capstan";
import { dataFolder } from "capstan/data-folder";
import { type DocumentIndex, openDocumentIndex } from "./document-index.ts";
import { findProjectDocuments, listInstalledPackages } from "./find-documents.ts";
import { type FoundFiles, findFiles, type SkippedFile, summarizeSkipped } from "./find-files.ts";
import { collectPeople, type Person, readPackageFacts } from "./package-facts.ts";
import { createSearchIndex, type Passage, type SearchIndex } from "./search-index.ts";
import { createSemanticSearch, type SemanticSearch } from "./semantic-search.ts";
import { type SyncProgress, syncIndex } from "./sync-index.ts";
import { createVectorStore } from "./vector-store.ts";
import { type FileWatch, watchFiles } from "./watch-files.ts";

/** Receives progress messages. */
export type Progress = (message: string) => void;

export type LibraryOptions = {
  /** The user's own files and folders, to search instead of this project and its packages. */
  readonly locations?: readonly string[] | undefined;
  /** Finds more documents, which are searched together with those of the locations. */
  readonly findMore?: () => Promise<FoundFiles>;
  /** Reads files again when they change, until the library is closed. */
  readonly isWatching?: boolean;
  /** Returns the address at which the user can open a document, by its id. */
  readonly getFileUrl?: (id: string) => string | undefined;
  /** The project whose docs and packages are searched. Defaults to this one. */
  readonly root?: string;
  /** Folder for the index, or `false` to keep it in memory. Defaults to the data folder. */
  readonly indexFolder?: string | false;
  /** Searches by meaning too, with this embedding model. Defaults to none: only words are searched. */
  readonly embeddings?: Model | string | undefined;
  /** Ends building the index. */
  readonly signal?: AbortSignal;
  /** Is called before each document that is read. */
  readonly onProgress?: (progress: SyncProgress) => void;
};

export interface Library {
  /** Labels for tools that read the library. READMEs of packages are untrusted; the user's own documents are also private. */
  readonly reads: readonly Reads[];
  /** Returns the index, which is built on first use. */
  open(progress?: Progress): Promise<SearchIndex>;
  /** Searches by meaning. Missing without an embedding model. */
  readonly semantic?: SemanticSearch;
  /** Returns the address at which the user can open the document of a passage, if there is one. */
  findFileUrl(passage: Pick<Passage, "document" | "fragment">): string | undefined;
  /** What the index contains, and what was left out and why. Requires an open library. */
  report(): LibraryReport;
  close(): Promise<void>;
}

export type LibraryReport = {
  readonly documents: number;
  readonly passages: number;
  readonly skipped: readonly SkippedFile[];
};

const workspace = join(import.meta.dirname, "..", "..", "..");

export function createLibrary(options: LibraryOptions = {}): Library {
  const closing = new AbortController();
  let opening: Promise<OpenLibrary> | undefined;
  let opened: OpenLibrary | undefined;
  const semantic = createSemantic(options);
  const isPrivate = options.locations !== undefined || options.root !== undefined;

  async function open(progress: Progress): Promise<OpenLibrary> {
    const signal = AbortSignal.any([closing.signal, ...(options.signal ? [options.signal] : [])]);
    opened = await openLibrary(options, progress, signal);
    return opened;
  }

  return {
    reads: [isPrivate ? "private" : "public", "untrusted"],
    async open(progress = () => undefined) {
      opening ??= open(progress).catch((error: unknown) => {
        opening = undefined; // try again next time
        throw error;
      });
      return (await opening).index;
    },
    ...(semantic && { semantic }),
    findFileUrl({ document, fragment }) {
      const url = options.getFileUrl?.(document);
      return url !== undefined && fragment !== undefined ? `${url}#${fragment}` : url;
    },
    report: () => opened?.report() ?? { documents: 0, passages: 0, skipped: [] },
    async close() {
      if (closing.signal.aborted) return;
      closing.abort();
      await (await opening?.catch(() => undefined))?.close();
    },
  };
}

function createSemantic({ embeddings: model, indexFolder }: LibraryOptions): SemanticSearch | undefined {
  if (model === undefined) return undefined;
  if (indexFolder === false) return createSemanticSearch({ model });
  const file = join(indexFolder ?? dataFolder(), "knowledge-vectors.db");
  return createSemanticSearch({ model, cache: createVectorStore(file) });
}

type OpenLibrary = {
  readonly index: SearchIndex;
  report(): LibraryReport;
  close(): Promise<void>;
};

async function openLibrary(
  options: LibraryOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<OpenLibrary> {
  const { indexFolder = dataFolder(), locations } = options;
  const name = locations === undefined ? "knowledge" : "knowledge-folder";
  const documents = openDocumentIndex(indexFolder === false ? undefined : join(indexFolder, `${name}.db`));
  let found: FoundSource = { documents: [], skipped: [], people: [] };

  async function syncNow(): Promise<void> {
    found = await findSource(options);
    const onProgress = (step: SyncProgress) => {
      options.onProgress?.(step);
      if (step.done % 25 === 0) progress(`Indexing: ${step.done} of ${step.total} documents`);
    };
    await syncIndex(documents, found.documents, { onProgress, signal });
    documents.setPeople(found.people);
  }
  let lastSync: Promise<void> = Promise.resolve();
  /** One at a time. */
  function sync(): Promise<void> {
    const next = lastSync.then(syncNow);
    lastSync = next.catch(() => undefined);
    return next;
  }

  let watch: FileWatch | undefined;
  try {
    await sync();
    if (documents.count().documents === 0) throw createNothingError(buildReport(documents, found.skipped));
    if (options.isWatching && locations?.length) {
      watch = await watchFiles(locations, sync);
      await sync(); // reads what has changed before the watch was ready
    }
  } catch (error) {
    await watch?.close();
    documents.database.close();
    throw error;
  }
  const index = createSearchIndex(documents.database);
  return {
    index,
    report: () => buildReport(documents, [...found.skipped, ...(watch?.listProblems() ?? [])]),
    async close() {
      await watch?.close();
      index.close();
    },
  };
}

type FoundSource = FoundFiles & { readonly people: readonly Person[] };

async function findSource(options: LibraryOptions): Promise<FoundSource> {
  const { locations, root = workspace } = options;
  if (locations) {
    const [files, more] = await Promise.all([findFiles(locations), options.findMore?.()]);
    return {
      documents: [...files.documents, ...(more?.documents ?? [])],
      skipped: [...files.skipped, ...(more?.skipped ?? [])],
      people: [],
    };
  }
  const found = await findProjectDocuments(root);
  const packages = await Promise.all((await listInstalledPackages(root)).map(readPackageFacts));
  const urls = new Map(packages.map(({ name, url }) => [name, url]));
  const documents = found.map((document) => {
    const url = document.source === "packages" ? urls.get(getPackageName(document.id)) : undefined;
    return { ...document, ...(url !== undefined && { url }) };
  });
  return { documents, skipped: [], people: collectPeople(packages) };
}

/** `@scope/name` for `@scope/name/docs/page.md`. */
const getPackageName = (id: string): string => id.split("/docs/")[0] ?? id;

function createNothingError({ skipped }: LibraryReport): AgentError {
  const reasons = skipped.slice(0, 3).map(({ item, reason }) => `${item}: ${reason}`);
  return new AgentError("invalid_input", ["There is no document to search.", ...reasons].join(" "));
}

function buildReport(documents: DocumentIndex, skipped: readonly SkippedFile[]): LibraryReport {
  return { ...documents.count(), skipped: summarizeSkipped([...documents.listProblems(), ...skipped]) };
}
