import { createParserWorker } from "../../import/parse-in-worker.ts";
import type { DocumentIndex, IndexedVersion } from "./document-index.ts";
import type { FoundDocument } from "./find-documents.ts";
import { documentLimits, parseDocument } from "./parse/parse-document.ts";
import type { ParsedDocument } from "./parse/parsed-document.ts";

export type SyncProgress = { readonly done: number; readonly total: number; readonly item: string };

export type SyncOptions = {
  /** Is called before each document. */
  readonly onProgress?: (progress: SyncProgress) => void;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Makes the index contain exactly these documents: reads the new and changed ones, one at a time, and removes the others.
 * A document that cannot be read is kept with its problem, so that it is not tried again until it changes.
 */
export async function syncIndex(
  index: DocumentIndex,
  documents: readonly FoundDocument[],
  { onProgress, signal }: SyncOptions = {},
): Promise<void> {
  const versions = new Map(index.listVersions().map((version) => [version.id, version]));
  const ids = new Set(documents.map(({ id }) => id));
  for (const id of versions.keys()) if (!ids.has(id)) index.remove(id);
  const changed = documents.filter((document) => !isSameVersion(document, versions.get(document.id)));
  for (const [done, document] of changed.entries()) {
    onProgress?.({ done, total: changed.length, item: document.id });
    const parsed = await readDocument(document, signal);
    if ("problem" in parsed) index.putProblem(document, parsed.problem);
    else index.put(document, parsed);
  }
}

const isSameVersion = (document: FoundDocument, version: IndexedVersion | undefined): boolean =>
  version?.file === document.file && version.size === document.size && version.mtimeMs === document.mtimeMs;

/** Shared, so that the memory for parsing is bounded however many libraries are open. */
const worker = createParserWorker(documentLimits);

async function readDocument(
  { file }: FoundDocument,
  signal: AbortSignal | undefined,
): Promise<ParsedDocument | { readonly problem: string }> {
  try {
    return await parseDocument(file, worker, signal);
  } catch (error) {
    signal?.throwIfAborted();
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
