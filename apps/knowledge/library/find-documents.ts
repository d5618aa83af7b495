import type { Dirent } from "node:fs";
import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";

/** A file to index. Symbolic links are never followed. */
export type FoundDocument = {
  /** Short and readable: `zod`, `pino/docs/redaction.md`, `docs/tools.md`. */
  readonly id: string;
  readonly title: string;
  /** Location, for display. */
  readonly place: string;
  readonly url?: string;
  readonly file: string;
  /** Stored agents can be restricted to sources. */
  readonly source: Source;
  readonly size: number;
  readonly mtimeMs: number;
};

export type Source = "project" | "packages" | "folder";
export const allSources: readonly Source[] = ["project", "packages", "folder"];

const maxDocuments = 1200;
const maxBytes = 20_000_000;

const isText = (name: string): boolean => /\.(?:md|markdown|txt)$/i.test(name);
const isReadme = (name: string): boolean => /^readme\.(?:md|markdown)$/i.test(name);
const maxDocumentsPerPackage = 60;
/** Longer pages are generated lists, which match every word and answer nothing. */
const maxPageBytes = 100_000;

/** Finds the docs of a project, then the READMEs and docs folders of its installed packages. */
export async function findProjectDocuments(projectRoot: string): Promise<readonly FoundDocument[]> {
  const root = await realpath(projectRoot);
  const own = await Promise.all([
    findInFolder(root, { source: "project", isWanted: isReadme }),
    findInFolder(join(root, "docs"), { source: "project", prefix: "docs/" }),
  ]);
  const packages = await listInstalledPackages(root);
  const installed = await Promise.all(packages.map(({ name, folder }) => findPackageDocuments(name, folder)));
  // READMEs first, so that a package with many pages does not displace other packages.
  const isPage = ({ id }: FoundDocument) => id.includes("/docs/");
  const ordered = installed.flat().sort((left, right) => Number(isPage(left)) - Number(isPage(right)));
  return applyBounds([...own.flat(), ...ordered].filter(({ size }) => size <= maxPageBytes));
}

export type InstalledPackage = { readonly name: string; readonly folder: string };

export async function listInstalledPackages(root: string): Promise<readonly InstalledPackage[]> {
  const modules = join(root, "node_modules");
  const names = await Promise.all(
    (await listFolders(modules)).map(async (name) =>
      name.startsWith("@")
        ? (await listFolders(join(modules, name))).map((inner) => `${name}/${inner}`)
        : [name],
    ),
  );
  return names.flat().map((name) => ({ name, folder: join(modules, name) }));
}

async function findPackageDocuments(name: string, folder: string): Promise<readonly FoundDocument[]> {
  const [readme] = await findInFolder(folder, { source: "packages", isWanted: isReadme });
  const docs = await findInFolder(join(folder, "docs"), {
    source: "packages",
    prefix: `${name}/docs/`,
    isDeep: true,
  });
  const main = readme && { ...readme, id: name, title: `${name} README`, place: `${name}/${readme.id}` };
  return [...(main ? [main] : []), ...docs.slice(0, maxDocumentsPerPackage)];
}

type FindOptions = {
  readonly source: Source;
  readonly prefix?: string;
  readonly isDeep?: boolean;
  readonly isWanted?: (name: string) => boolean;
};

async function findInFolder(folder: string, options: FindOptions): Promise<readonly FoundDocument[]> {
  const { source, prefix = "", isDeep = false, isWanted = isText } = options;
  const entries = (await readEntries(folder)).toSorted((left, right) => (left.name < right.name ? -1 : 1));
  const found: FoundDocument[] = [];
  for (const entry of entries) {
    const file = join(folder, entry.name);
    const id = prefix + entry.name;
    if (entry.isDirectory() && isDeep && isVisible(entry.name))
      found.push(...(await findInFolder(file, { ...options, prefix: `${id}/` })));
    if (!entry.isFile() || !isWanted(entry.name)) continue;
    const { size, mtimeMs } = await stat(file);
    found.push({ id, title: id, place: id, file, source, size, mtimeMs });
  }
  return found;
}

function applyBounds(documents: readonly FoundDocument[]): readonly FoundDocument[] {
  let bytes = 0;
  return documents
    .filter(({ size }) => size > 0)
    .slice(0, maxDocuments)
    .filter(({ size }) => {
      bytes += size;
      return bytes <= maxBytes;
    });
}

const isVisible = (name: string): boolean => !name.startsWith(".") && name !== "node_modules";

async function listFolders(folder: string): Promise<readonly string[]> {
  const folders = (await readEntries(folder)).filter((entry) => entry.isDirectory() && isVisible(entry.name));
  return folders.map(({ name }) => name).sort();
}

/** A missing folder counts as empty: not every project or package has docs. */
async function readEntries(folder: string): Promise<readonly Dirent[]> {
  const found = await lstat(folder).catch(() => undefined);
  return found?.isDirectory() ? readdir(folder, { withFileTypes: true }) : [];
}
