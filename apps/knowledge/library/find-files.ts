import type { Dirent } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { AgentError } from "capstan";
import type { FoundDocument } from "./find-documents.ts";
import { findFormat } from "./parse/formats.ts";
import { maxDocumentBytes } from "./parse/parse-document.ts";

/** A file or folder that is left out, and why, as one sentence. */
export type SkippedFile = { readonly item: string; readonly reason: string };

export type FoundFiles = {
  readonly documents: readonly FoundDocument[];
  readonly skipped: readonly SkippedFile[];
};

/** Upper bounds for the user's own files. */
export const defaultBounds: FileBounds = {
  visits: 200_000,
  files: 20_000,
  bytes: 1_000_000_000,
  bytesPerFile: maxDocumentBytes,
};

export type FileBounds = {
  /** Files and folders of any kind, in case the folder is a whole disk. */
  readonly visits: number;
  readonly files: number;
  readonly bytes: number;
  readonly bytesPerFile: number;
};

/**
 * Finds the documents in files and folders, recursively. The named locations may be links; links inside of them are not
 * followed. The id of a document is its path in the folder, after the name of the folder if there are several.
 */
export async function findFiles(
  locations: readonly string[],
  bounds: FileBounds = defaultBounds,
): Promise<FoundFiles> {
  const walk: Walk = { bounds, documents: [], skipped: [], visits: 0, files: 0, bytes: 0 };
  const names = locations.map((location) => basename(location));
  for (const [index, path] of (await resolveLocations(locations)).entries()) {
    const isTaken = names.indexOf(names[index] ?? "") < index;
    const name = `${names[index]}${isTaken ? ` (${index + 1})` : ""}`;
    const isFolder = (await stat(path)).isDirectory();
    const reason = isFolder ? undefined : findTypeReason(name);
    if (isFolder) await walkFolder(walk, path, locations.length > 1 ? `${name}/` : "");
    else if (reason !== undefined) walk.skipped.push({ item: name, reason });
    else await addFile(walk, path, name);
  }
  return walk;
}

/** Returns the real paths. Rejects with `invalid_input` if one does not exist. */
export async function resolveLocations(locations: readonly string[]): Promise<readonly string[]> {
  return Promise.all(
    locations.map((location) =>
      realpath(location).catch(() => {
        const message = `Cannot search "${location}": it does not exist or cannot be opened.`;
        throw new AgentError("invalid_input", message);
      }),
    ),
  );
}

type Walk = {
  readonly bounds: FileBounds;
  readonly documents: FoundDocument[];
  readonly skipped: SkippedFile[];
  visits: number;
  files: number;
  bytes: number;
};

async function walkFolder(walk: Walk, folder: string, prefix: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
  if (!entries) {
    walk.skipped.push({ item: prefix, reason: "The folder cannot be opened." });
    return;
  }
  for (const entry of entries.toSorted((left, right) => (left.name < right.name ? -1 : 1))) {
    const item = prefix + entry.name;
    walk.visits += 1;
    const reason = findReason(entry) ?? findLimit(walk);
    if (reason !== undefined) walk.skipped.push({ item, reason });
    else if (entry.isDirectory()) await walkFolder(walk, join(folder, entry.name), `${item}/`);
    else await addFile(walk, join(folder, entry.name), item);
  }
}

function findLimit({ bounds, visits, files }: Walk): string | undefined {
  if (visits > bounds.visits) return `Only the first ${bounds.visits} entries are looked at.`;
  return files >= bounds.files ? `Only the first ${bounds.files} files are read.` : undefined;
}

const packageFolders: ReadonlySet<string> = new Set(["node_modules", "__pycache__"]);

function findReason(entry: Dirent): string | undefined {
  if (entry.isSymbolicLink()) return "Links are not followed.";
  if (entry.name.startsWith(".")) return "Hidden files and folders are not read.";
  if (entry.isDirectory())
    return packageFolders.has(entry.name) ? "Folders of installed packages are not read." : undefined;
  return entry.isFile() ? findTypeReason(entry.name) : "It is neither a file nor a folder.";
}

function findTypeReason(name: string): string | undefined {
  if (findFormat(name)) return undefined;
  const extension = extname(name).toLowerCase();
  return extension ? `Files of type ${extension} are not read.` : "Files without an extension are not read.";
}

async function addFile(walk: Walk, file: string, id: string): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  if (!found) return; // deleted since the folder was listed
  const { size, mtimeMs } = found;
  walk.files += 1;
  const problem = findSizeProblem(size, walk);
  if (problem !== undefined) {
    walk.skipped.push({ item: id, reason: problem });
    return;
  }
  walk.bytes += size;
  walk.documents.push({ id, title: id, place: id, file, source: "folder", size, mtimeMs });
}

function findSizeProblem(size: number, { bounds, bytes }: Walk): string | undefined {
  if (size === 0) return "The file is empty.";
  if (size > bounds.bytesPerFile) return `The file is larger than ${formatMegabytes(bounds.bytesPerFile)}.`;
  if (bytes + size > bounds.bytes) return `Only ${formatMegabytes(bounds.bytes)} are read in all.`;
  return undefined;
}

const formatMegabytes = (bytes: number): string => `${Math.round(bytes / 1_000_000)} MB`;

const maxItemsPerReason = 5;

/** Lists the first items of each reason, and counts the others: a folder may have thousands of images. */
export function summarizeSkipped(skipped: readonly SkippedFile[]): readonly SkippedFile[] {
  return [...Map.groupBy(skipped, ({ reason }) => reason)].flatMap(([reason, items]) => {
    const remaining = items.length - maxItemsPerReason;
    if (remaining <= 1) return items;
    return [...items.slice(0, maxItemsPerReason), { item: `${remaining} more`, reason }];
  });
}
