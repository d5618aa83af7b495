// The one place where a path becomes something open. A path is never opened as a whole: each name is looked up in the
// directory that is open already, without following links. On Linux that is `/proc/self/fd/<number>/<name>`, which
// does for Node what openat does in C, also for rename, unlink and mkdir.
import { type BigIntStats, constants } from "node:fs";
import { lstat, mkdir, open, opendir } from "node:fs/promises";
import { join } from "node:path";
import { checkOpened, type Opened } from "./check-opened.ts";
import { badArguments, refused, shown, systemCode } from "./file-failure.ts";
import { identitiesOf } from "./file-identity.ts";
import { directoryOnly, noFollow } from "./open-flags.ts";
import { refuseProtected } from "./protected-names.ts";
import type { Root } from "./root.ts";

/** An open directory in a root. It stays the same one whatever becomes of its path; close it. */
export type Directory = Opened & {
  /** What to call a name in it when speaking to the system; good while it is open. */
  at(name: string): string;
};

const openFlags = constants.O_RDONLY | directoryOnly | noFollow;

/** Opens the root itself. */
export async function openRoot(root: Root): Promise<Directory> {
  const forbidden = await identitiesOf(root.protect);
  try {
    const handle = await open(root.path, openFlags);
    return await checkedDirectory({ root, names: [], handle, forbidden }, root.path);
  } catch (error) {
    if (systemCode(error) !== "ENOTDIR" && systemCode(error) !== "ELOOP") throw error;
    throw refused("The root is no longer the folder that it was.", error);
  }
}

/** Opens a directory in a directory. With `onCreate` it is made when it is missing, unless `onCreate` throws. */
export async function openIn(parent: Directory, name: string, onCreate?: () => void): Promise<Directory> {
  const { root, forbidden } = parent;
  const names = [...parent.names, name];
  refuseProtected(root, names);
  const found = await find(parent, name);
  if (!found && onCreate) await create(parent.at(name), onCreate);
  const path = parent.at(found?.name ?? name);
  try {
    const handle = await open(path, openFlags);
    return await checkedDirectory({ root, names, handle, forbidden }, path);
  } catch (error) {
    if (systemCode(error) !== "ENOTDIR" && systemCode(error) !== "ELOOP") throw error;
    if (found?.stats.isFile()) throw badArguments(`${shown(names)} is not a folder.`);
    throw refused(`${shown(names)} is a link or no folder. Links are not followed.`, error);
  }
}

async function create(path: string, onCreate: () => void): Promise<void> {
  try {
    onCreate();
    await mkdir(path);
  } catch (error) {
    // Somebody else has made it in the meantime.
    if (systemCode(error) !== "EEXIST") throw error;
  }
}

async function checkedDirectory(opened: Opened, path: string): Promise<Directory> {
  const { root, handle } = opened;
  const base = root.byHandle ? `/proc/self/fd/${handle.fd}` : path;
  try {
    await checkOpened(opened, path);
  } catch (error) {
    await handle.close();
    throw error;
  }
  return { ...opened, at: (name) => (root.byHandle ? `${base}/${name}` : join(base, name)) };
}

/** Opens the directory that the names lead to, gives it to `use`, and closes it. */
export async function inDirectory<Value>(
  root: Root,
  names: readonly string[],
  use: (directory: Directory) => Promise<Value>,
): Promise<Value> {
  const directory = await openWay(root, names);
  try {
    return await use(directory);
  } finally {
    await directory.handle.close();
  }
}

/** The directory that the names lead to. With `onCreate`, what is missing on the way is made. */
export async function openWay(
  root: Root,
  names: readonly string[],
  onCreate?: () => void,
): Promise<Directory> {
  let directory = await openRoot(root);
  for (const name of names) {
    const { handle } = directory;
    try {
      directory = await openIn(directory, name, onCreate);
    } finally {
      await handle.close();
    }
  }
  return directory;
}

/** An entry of a directory, by the name that it has on the disk. */
export type Found = { readonly name: string; readonly stats: BigIntStats };

/** What a directory has under a name, also when the disk has its accents written in another way. Follows no link. */
export async function find(directory: Directory, name: string): Promise<Found | undefined> {
  const stats = await statsAt(directory.at(name));
  if (stats) return { name, stats };
  if (/^\p{ASCII}*$/u.test(name)) return undefined;
  const normal = name.normalize("NFC");
  for await (const entry of await opendir(directory.at("."))) {
    if (entry.name.normalize("NFC") !== normal) continue;
    const other = await statsAt(directory.at(entry.name));
    return other && { name: entry.name, stats: other };
  }
  return undefined;
}

/** Of what is there itself, not of what a link points to. */
export async function statsAt(path: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
