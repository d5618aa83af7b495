// The only place that opens paths. A path is never opened as a whole: each name is looked up in its open parent
// directory, without following links. On Linux this uses `/proc/self/fd/<number>/<name>`, Node's equivalent of openat,
// which also works for rename, unlink and mkdir.
import { type BigIntStats, constants } from "node:fs";
import { mkdir, open, opendir } from "node:fs/promises";
import { join } from "node:path";
import { isExternalDirectory } from "./external-files.ts";
import { createArgumentError, createSecurityError, getSystemCode, quoteNames } from "./file-errors.ts";
import { readIdentities } from "./file-identity.ts";
import { directoryOnly, noFollow } from "./open-flags.ts";
import { assertNotProtected } from "./protected-paths.ts";
import { readStats } from "./read-stats.ts";
import type { Root } from "./root.ts";
import { type Opened, verifyOpened } from "./verify-opened.ts";

/** An open directory in a root. It refers to the same directory even if its path changes. The caller closes it. */
export type Directory = Opened & {
  /** Whether everything in it comes from outside. False if `root.external` decides for all files. */
  readonly isExternal: boolean;
  /** Returns a path for an entry, valid while the directory is open. */
  at(name: string): string;
};

const openFlags = constants.O_RDONLY | directoryOnly | noFollow;

export async function openRoot(root: Root): Promise<Directory> {
  const forbidden = await readIdentities(root.protect);
  try {
    const handle = await open(root.path, openFlags);
    return await verifyDirectory({ root, names: [], handle, forbidden }, root.path);
  } catch (error) {
    if (getSystemCode(error) !== "ENOTDIR" && getSystemCode(error) !== "ELOOP") throw error;
    throw createSecurityError("The root folder was replaced.", error);
  }
}

/** Opens a subdirectory. With `onCreate`, a missing one is created unless `onCreate` throws. */
export async function openSubdirectory(
  parent: Directory,
  name: string,
  onCreate?: () => void,
): Promise<Directory> {
  const { root, forbidden } = parent;
  const names = [...parent.names, name];
  assertNotProtected(root, names);
  const found = await findEntry(parent, name);
  if (!found && onCreate) await createDirectory(parent.at(name), onCreate);
  const path = parent.at(found?.name ?? name);
  try {
    const handle = await open(path, openFlags);
    return await verifyDirectory({ root, names, handle, forbidden }, path, parent);
  } catch (error) {
    if (getSystemCode(error) !== "ENOTDIR" && getSystemCode(error) !== "ELOOP") throw error;
    if (found?.stats.isFile()) throw createArgumentError(`${quoteNames(names)} is not a folder.`);
    throw createSecurityError(
      `${quoteNames(names)} is a link or not a folder. Links are not followed.`,
      error,
    );
  }
}

async function createDirectory(path: string, onCreate: () => void): Promise<void> {
  try {
    onCreate();
    await mkdir(path);
  } catch (error) {
    // Another process created it in the meantime.
    if (getSystemCode(error) !== "EEXIST") throw error;
  }
}

async function verifyDirectory(opened: Opened, path: string, parent?: Directory): Promise<Directory> {
  const { root, handle } = opened;
  const base = root.byHandle ? `/proc/self/fd/${handle.fd}` : path;
  try {
    const verified = await verifyOpened(opened, path);
    const isExternal = parent !== undefined && (await isExternalDirectory(parent, verified));
    return { ...opened, isExternal, at: (name) => (root.byHandle ? `${base}/${name}` : join(base, name)) };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Opens a directory, passes it to `use`, and closes it. */
export async function withDirectory<Value>(
  root: Root,
  names: readonly string[],
  use: (directory: Directory) => Promise<Value>,
): Promise<Value> {
  const directory = await openPath(root, names);
  try {
    return await use(directory);
  } finally {
    await directory.handle.close();
  }
}

/** Opens a directory by its path from the root. With `onCreate`, missing directories are created. */
export async function openPath(
  root: Root,
  names: readonly string[],
  onCreate?: () => void,
): Promise<Directory> {
  let directory = await openRoot(root);
  for (const name of names) {
    const { handle } = directory;
    try {
      directory = await openSubdirectory(directory, name, onCreate);
    } finally {
      await handle.close();
    }
  }
  return directory;
}

/** A directory entry under the name it has on disk. */
export type FoundEntry = { readonly name: string; readonly stats: BigIntStats };

/** Finds an entry by name, even if the disk stores accents in another Unicode form. Does not follow links. */
export async function findEntry(directory: Directory, name: string): Promise<FoundEntry | undefined> {
  const stats = await readStats(directory.at(name));
  if (stats) return { name, stats };
  if (/^\p{ASCII}*$/u.test(name)) return undefined;
  const normal = name.normalize("NFC");
  for await (const entry of await opendir(directory.at("."))) {
    if (entry.name.normalize("NFC") !== normal) continue;
    const other = await readStats(directory.at(entry.name));
    return other && { name: entry.name, stats: other };
  }
  return undefined;
}
