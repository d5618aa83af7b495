import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { AgentError } from "capstan";
import { readZip } from "../import/read-zip.ts";
import type { ImdfFiles, SkippedItem } from "./venue/read-imdf.ts";

/** Real venues have a few megabytes. */
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
  const found: FoundFile[] = [];
  for (const location of locations) found.push(...(await findFiles(location, signal)));
  const byFolder = Map.groupBy(found, ({ folder }) => folder);
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
      ...others.map(([item]) => ({ item, reason: "It is another venue. Open each venue by itself." })),
    ],
  };
}

type FoundFile = { readonly folder: string; readonly name: string; readonly text: string };

const isVenue = (names: readonly string[]): boolean =>
  names.includes("venue.geojson") || (names.includes("level.geojson") && names.includes("unit.geojson"));

const isWanted = (path: string): boolean =>
  !path.includes("__MACOSX/") &&
  (/\.geojson$/i.test(path) || ["manifest.json", "walking-graph.jsonl"].includes(basename(path)));

async function findFiles(path: string, signal?: AbortSignal, depth = 0): Promise<readonly FoundFile[]> {
  signal?.throwIfAborted();
  const stats = await stat(path).catch((cause: unknown) => {
    throw new AgentError("not_found", `Venue not found: "${path}".`, { cause });
  });
  if (stats.isDirectory()) return depth > limits.depth ? [] : findInFolder(path, signal, depth);
  if (extname(path).toLowerCase() === ".zip") return findInArchive(path, signal);
  if (!stats.isFile() || !isWanted(path)) return [];
  if (stats.size > limits.bytesPerEntry)
    throw new AgentError("file_limit", `"${path}" is larger than ${limits.bytesPerEntry / 1e6} MB.`);
  return [toFoundFile(path, await readFile(path))];
}

async function findInFolder(
  folder: string,
  signal: AbortSignal | undefined,
  depth: number,
): Promise<readonly FoundFile[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  if (entries.length > limits.entries)
    throw new AgentError("file_limit", `"${folder}" has more than ${limits.entries} files.`);
  const found: FoundFile[] = [];
  for (const entry of entries.toSorted((left, right) => left.name.localeCompare(right.name))) {
    const path = join(folder, entry.name);
    const isRelevant = entry.isDirectory() || (entry.isFile() && (isWanted(path) || /\.zip$/i.test(path)));
    if (isRelevant && !entry.name.startsWith(".")) found.push(...(await findFiles(path, signal, depth + 1)));
  }
  return found;
}

async function findInArchive(path: string, signal?: AbortSignal): Promise<readonly FoundFile[]> {
  const files = await readZip(path, { limits, isWanted, ...(signal && { signal }) });
  return [...files].map(([name, content]) => toFoundFile(join(path, name), content));
}

const toFoundFile = (path: string, content: Buffer): FoundFile => ({
  folder: dirname(path),
  name: basename(path),
  text: new TextDecoder().decode(content),
});
