// Files from outside in a folder that is otherwise the user's: everything below a folder for downloads, mail, uploads or
// packages, everything below a folder unpacked next to its archive, and every file that the system has marked as
// downloaded. The real location counts, whatever the spelling of the path, and links are never followed. A file that the
// user moves or copies elsewhere is the user's afterwards, unless the mark travels with it.
import type { BigIntStats } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { dirname, sep } from "node:path";
import type { ToolReturn } from "capstan";
import type { Directory } from "./directory.ts";
import { foldName } from "./protected-paths.ts";
import { readStats } from "./read-stats.ts";
import type { Verified } from "./verify-opened.ts";

const externalFolders = new Set([
  ...["downloads", "attachments", "inbox", "uploads"],
  ...["node_modules", "vendor", "third_party", "site-packages"],
]);

/** Whether one of these is the name of a folder for files from outside. */
export function hasExternalFolder(names: readonly string[]): boolean {
  return names.some((name) => externalFolders.has(foldName(name)));
}

const archiveSuffixes = [".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".7z"];

/** Whether everything in a directory comes from outside. */
export async function isExternalDirectory(parent: Directory, directory: Verified): Promise<boolean> {
  if (parent.root.external !== "some") return false;
  const { stats, realNames } = directory;
  if (parent.isExternal || hasExternalFolder(realNames)) return true;
  return isUnpacked(parent.at(realNames.at(-1) ?? ""), stats);
}

/** Whether an archive next to the folder has its name and is older. An archive that was made from the folder is newer. */
async function isUnpacked(path: string, stats: BigIntStats): Promise<boolean> {
  const archives = await Promise.all(archiveSuffixes.map((suffix) => readStats(path + suffix)));
  // Some file systems do not record when a folder was created, only its last change.
  const createdNs = stats.birthtimeNs || stats.ctimeNs;
  return archives.some((archive) => archive?.isFile() && archive.mtimeNs <= createdNs);
}

/** Whether others may have written this entry of a directory, and chosen its name. */
export async function isExternal(directory: Directory, name: string): Promise<boolean> {
  if (directory.root.external !== "some") return false;
  return directory.isExternal || (await hasDownloadMark(directory.at(name)));
}

/** Windows keeps the mark in a stream of the file; a copy on another system may have a file of that name. */
function hasDownloadMark(path: string): Promise<boolean> {
  return access(`${path}:Zone.Identifier`).then(
    () => true,
    () => false,
  );
}

/** Applies the rule to any file: whether others may have written it. Resolves links. */
export async function isExternalFile(path: string): Promise<boolean> {
  const file = await realpath(path);
  if (hasExternalFolder(dirname(file).split(sep)) || (await hasDownloadMark(file))) return true;
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder))
    if (await isUnpacked(folder, await stat(folder, { bigint: true }))) return true;
  return false;
}

/** Labels a result that shows content or names from outside. */
export function labelResult(content: string, hasExternal: boolean): string | ToolReturn {
  return hasExternal ? { content, reads: ["untrusted"] } : content;
}
