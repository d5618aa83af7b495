import { readdir, stat } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { AgentError } from "capstan";
import { readBytes } from "../import/read-bytes.ts";
import { readZip } from "../import/read-zip.ts";
import type { ImdfFiles, SkippedItem } from "./venue/read-imdf.ts";

/** Real venues have a few megabytes. `bytes` is the sum of all files. */
const limits = { entries: 5000, bytesPerEntry: 50_000_000, bytes: 100_000_000, depth: 3 };

export type VenueFiles = { readonly files: ImdfFiles; readonly skipped: readonly SkippedItem[] };

/**
 * Reads the files of one IMDF archive: a `.zip`, a folder that holds the files or a `.zip`, or the files themselves.
 * Rejects with `not_found`, `file_limit`, or `file_invalid` if no venue is found. Further venues are skipped.
 */
export async function readVenueFiles(
  locations: readonly string[],
  signal?: AbortSignal,
): Promise<VenueFiles> {
  const search: FileSearch = { signal, found: [], skipped: [], bytes: 0 };
  for (const location of locations) await findFiles(search, location);
  const byFolder = Map.groupBy(search.found, ({ folder }) => folder);
  const venues = [...byFolder].filter(([, files]) => isVenue(files.map(({ name }) => name)));
  const [first, ...others] = venues;
  if (!first)
    throw new AgentError(
      "file_invalid",
      `No IMDF venue found in "${locations.join('", "')}". An IMDF archive has the files venue.geojson, level.geojson and unit.geojson.`,
    );
  const files = new Map(first[1].map(({ name, text }) => [name, text]));
  return {
    files,
    skipped: [
      ...["manifest.json", "venue.geojson"].flatMap((item) =>
        files.has(item) ? [] : [{ item, reason: "The file is missing." }],
      ),
      ...search.skipped,
      ...others.map(([item]) => ({ item, reason: "It is another venue. Open each venue by itself." })),
    ],
  };
}

type FoundFile = { readonly folder: string; readonly name: string; readonly text: string };

type FileSearch = {
  readonly signal: AbortSignal | undefined;
  readonly found: FoundFile[];
  readonly skipped: SkippedItem[];
  bytes: number;
};

const isVenue = (names: readonly string[]): boolean =>
  names.includes("venue.geojson") || (names.includes("level.geojson") && names.includes("unit.geojson"));

const isWanted = (path: string): boolean =>
  !path.includes("__MACOSX/") &&
  (/\.geojson$/i.test(path) || ["manifest.json", "walking-graph.jsonl"].includes(basename(path)));

async function findFiles(search: FileSearch, path: string, depth = 0): Promise<void> {
  const { signal } = search;
  signal?.throwIfAborted();
  const stats = await stat(path).catch((cause: unknown) => {
    throw new AgentError("not_found", `Venue not found: "${path}".`, { cause });
  });
  const maxBytes = limits.bytes - search.bytes;
  if (stats.isDirectory()) {
    if (depth <= limits.depth) await findInFolder(search, path, depth);
  } else if (isArchive(path)) {
    const zip = { limits: { ...limits, bytes: maxBytes }, isWanted, ...(signal && { signal }) };
    for (const [name, content] of await readZip(path, zip)) addFile(search, join(path, name), content);
  } else if (isWanted(path)) {
    if (stats.size > maxBytes)
      throw new AgentError("file_limit", `With "${path}", the files exceed ${limits.bytes / 1e6} MB.`);
    addFile(search, path, await readBytes(path, { maxBytes: limits.bytesPerEntry, signal }));
  }
}

async function findInFolder(search: FileSearch, folder: string, depth: number): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  if (entries.length > limits.entries)
    throw new AgentError("file_limit", `"${folder}" has more than ${limits.entries} files.`);
  for (const entry of entries.toSorted((left, right) => left.name.localeCompare(right.name))) {
    const path = join(folder, entry.name);
    const isRelevant = entry.isDirectory() || isWanted(path) || isArchive(path);
    if (!isRelevant || entry.name.startsWith(".")) continue;
    if (entry.isDirectory() || entry.isFile()) await findFiles(search, path, depth + 1);
    else search.skipped.push({ item: entry.name, reason: "It is a link or not a regular file." });
  }
}

const isArchive = (path: string): boolean => extname(path).toLowerCase() === ".zip";

function addFile(search: FileSearch, path: string, content: Buffer): void {
  search.bytes += content.length;
  search.found.push({
    folder: dirname(path),
    name: basename(path),
    text: new TextDecoder().decode(content),
  });
}
