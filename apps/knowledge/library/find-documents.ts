import { createHash } from "node:crypto";
import type { Dirent } from "node:fs";
import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";

/** A text on this machine that can be searched. Symbolic links are never followed. */
export type FoundDocument = {
  /** Short, for people and tools alike: `zod`, `pino/docs/redaction.md`, `docs/tools.md`. */
  readonly id: string;
  readonly title: string;
  readonly file: string;
  /** What a stored agent can be kept to. */
  readonly source: Source;
  readonly size: number;
  readonly mtimeMs: number;
};

export type Source = "project" | "packages" | "folder";
export const allSources: readonly Source[] = ["project", "packages", "folder"];

/** No more than this is indexed, whatever is there. */
export const bounds: Bounds = { documents: 800, bytes: 20_000_000, bytesOfOne: 2_000_000 };

export type Bounds = {
  readonly documents: number;
  readonly bytes: number;
  /** A larger one is left out. */
  readonly bytesOfOne: number;
};

const mostVisits = 20_000;

const isText = (name: string): boolean => /\.(?:md|markdown|txt)$/i.test(name);
const isReadme = (name: string): boolean => /^readme\.(?:md|markdown)$/i.test(name);
const mostOfOnePackage = 60;
/** Longer ones are lists that programs write: they have every word and answer nothing. */
const longestPage = 100_000;

/** The docs of a project, then the READMEs and docs folders of the packages that it has installed. */
export async function projectDocuments(named: string): Promise<readonly FoundDocument[]> {
  const root = await realpath(named);
  const own = await Promise.all([
    inFolder(root, { source: "project", isWanted: isReadme }),
    inFolder(join(root, "docs"), { source: "project", prefix: "docs/" }),
  ]);
  const packages = await installedPackages(root);
  const installed = await Promise.all(packages.map(({ name, folder }) => packageDocuments(name, folder)));
  return bounded([...own.flat(), ...installed.flat()].filter(({ size }) => size <= longestPage));
}

/** Every Markdown or text file in a folder and the folders in it. */
export async function folderDocuments(folder: string, most?: Bounds): Promise<readonly FoundDocument[]> {
  // Whoever names a folder may name it by a link.
  return bounded(await inFolder(await realpath(folder), { source: "folder", isDeep: true }), most);
}

export type InstalledPackage = { readonly name: string; readonly folder: string };

export async function installedPackages(root: string): Promise<readonly InstalledPackage[]> {
  const modules = join(root, "node_modules");
  const names = await Promise.all(
    (await folderNames(modules)).map(async (name) =>
      name.startsWith("@")
        ? (await folderNames(join(modules, name))).map((inner) => `${name}/${inner}`)
        : [name],
    ),
  );
  return names.flat().map((name) => ({ name, folder: join(modules, name) }));
}

/** Changes when a document is added, removed or written to, and is another one in another folder. */
export function fingerprint(documents: readonly FoundDocument[]): string {
  const hash = createHash("sha256");
  for (const { id, file, size, mtimeMs } of documents) hash.update(`${id}\n${file}\n${size}\n${mtimeMs}\n`);
  return hash.digest("hex");
}

async function packageDocuments(name: string, folder: string): Promise<readonly FoundDocument[]> {
  const [readme] = await inFolder(folder, { source: "packages", isWanted: isReadme });
  const docs = await inFolder(join(folder, "docs"), {
    source: "packages",
    prefix: `${name}/docs/`,
    isDeep: true,
  });
  const main = readme && { ...readme, id: name, title: `${name} README` };
  return [...(main ? [main] : []), ...docs.slice(0, mostOfOnePackage)];
}

type Looking = {
  readonly source: Source;
  readonly prefix?: string;
  readonly isDeep?: boolean;
  readonly isWanted?: (name: string) => boolean;
  /** How many more files and folders are looked at: somebody may point at a whole disk. */
  readonly visits?: { left: number };
};

async function inFolder(folder: string, looking: Looking): Promise<readonly FoundDocument[]> {
  const { source, prefix = "", isDeep = false, isWanted = isText, visits = { left: mostVisits } } = looking;
  const entries = (await entriesOf(folder)).toSorted((left, right) => (left.name < right.name ? -1 : 1));
  const found: FoundDocument[] = [];
  for (const entry of entries) {
    if (visits.left-- <= 0) break;
    const file = join(folder, entry.name);
    const id = prefix + entry.name;
    if (entry.isDirectory() && isDeep && isVisible(entry.name))
      found.push(...(await inFolder(file, { ...looking, prefix: `${id}/`, visits })));
    if (!entry.isFile() || !isWanted(entry.name)) continue;
    const { size, mtimeMs } = await stat(file);
    found.push({ id, title: id, file, source, size, mtimeMs });
  }
  return found;
}

function bounded(documents: readonly FoundDocument[], most: Bounds = bounds): readonly FoundDocument[] {
  let bytes = 0;
  return documents
    .filter(({ size }) => size > 0 && size <= most.bytesOfOne)
    .slice(0, most.documents)
    .filter(({ size }) => {
      bytes += size;
      return bytes <= most.bytes;
    });
}

const isVisible = (name: string): boolean => !name.startsWith(".") && name !== "node_modules";

async function folderNames(folder: string): Promise<readonly string[]> {
  const folders = (await entriesOf(folder)).filter((entry) => entry.isDirectory() && isVisible(entry.name));
  return folders.map(({ name }) => name).sort();
}

/** A project without docs, or a package without them, is no failure. */
async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  const found = await lstat(folder).catch(() => undefined);
  return found?.isDirectory() ? readdir(folder, { withFileTypes: true }) : [];
}
