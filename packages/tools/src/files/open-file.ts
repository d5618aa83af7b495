import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, open, readdir } from "node:fs/promises";
import { type Directory, findEntry, openRoot } from "./directory.ts";
import {
  createArgumentError,
  createNotFoundError,
  createSecurityError,
  getSystemCode,
  quoteNames,
} from "./file-errors.ts";
import { getIdentity } from "./file-identity.ts";
import { noFollow } from "./open-flags.ts";
import { assertNotProtected, hasProtectedName } from "./protected-paths.ts";
import { readStats } from "./read-stats.ts";
import { verifyOpened } from "./verify-opened.ts";

/** A regular file in the root, open for reading. The caller closes it. */
export type OpenFile = { readonly handle: FileHandle; readonly stats: BigIntStats };

// O_NONBLOCK: opening a named pipe must not wait for a writer. O_NOCTTY: a terminal must not become ours.
const { O_RDONLY, O_NONBLOCK = 0, O_NOCTTY = 0 } = constants;

/** Opens a file for reading. Anything but a regular file is refused, both before and after opening it. */
export async function openFile(directory: Directory, name: string): Promise<OpenFile> {
  const { root, forbidden } = directory;
  const names = [...directory.names, name];
  assertNotProtected(root, names);
  const found = await findEntry(directory, name);
  if (!found)
    throw createNotFoundError(
      `File not found: ${quoteNames(names)}. Use list_files to see which files exist.`,
    );
  assertRegularFile(found.stats, names);
  const path = directory.at(found.name);
  const handle = await openForReading(path, names);
  try {
    const { stats } = await verifyOpened({ root, names, handle, forbidden }, path);
    assertRegularFile(stats, names);
    if (stats.nlink > 1n) await assertNoProtectedLink(directory, stats, names);
    return { handle, stats };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function openForReading(path: string, names: readonly string[]): Promise<FileHandle> {
  try {
    return await open(path, O_RDONLY | noFollow | O_NONBLOCK | O_NOCTTY);
  } catch (error) {
    // The entry was a file a moment ago. ENXIO means a socket or pipe now, ELOOP a link.
    if (getSystemCode(error) !== "ENXIO" && getSystemCode(error) !== "ELOOP") throw error;
    throw createSecurityError(`${quoteNames(names)} was replaced while it was being opened.`, error);
  }
}

/** A folder is a mistake of the model. Links, pipes, devices and sockets are refused for safety. */
export function assertRegularFile(stats: BigIntStats, names: readonly string[]): void {
  if (stats.isFile()) return;
  if (stats.isDirectory())
    throw createArgumentError(`${quoteNames(names)} is a folder. Use list_files to see what is in it.`);
  if (stats.isSymbolicLink())
    throw createSecurityError(`${quoteNames(names)} is a link. Links are not followed.`);
  throw createSecurityError(`${quoteNames(names)} is not a regular file but a device, a pipe or a socket.`);
}

/** Refuses a hard link to a protected file. The system cannot list all names of a file, so only nearby ones are checked. */
async function assertNoProtectedLink(
  directory: Directory,
  stats: BigIntStats,
  names: readonly string[],
): Promise<void> {
  if (directory.root.strict)
    throw createSecurityError(`${quoteNames(names)} has more than one hard link, and the root is strict.`);
  const identity = getIdentity(stats);
  const isNear = (await findProtectedIn(directory)).has(identity);
  if (isNear || (await findProtectedInRoot(directory)).has(identity))
    throw createSecurityError(`${quoteNames(names)} is a hard link to a protected file.`);
}

const protectedByOperation = new WeakMap<ReadonlySet<string>, Promise<ReadonlySet<string>>>();

/** Reads the root once per operation: `forbidden` is created per operation and shared by all directories it opens. */
function findProtectedInRoot({ root, forbidden }: Directory): Promise<ReadonlySet<string>> {
  const known = protectedByOperation.get(forbidden);
  if (known) return known;
  const reading = openRoot(root).then(async (top) => {
    try {
      return await findProtectedIn(top);
    } finally {
      await top.handle.close();
    }
  });
  protectedByOperation.set(forbidden, reading);
  return reading;
}

/** Returns the identities of protected files in a directory and in its protected folders. */
async function findProtectedIn(directory: Directory): Promise<ReadonlySet<string>> {
  const identities = new Set<string>();
  const names = (await readdir(directory.at("."))).filter((name) => hasProtectedName([name]));
  for (const name of names) {
    const stats = await readStats(directory.at(name));
    if (stats) identities.add(getIdentity(stats));
    if (!stats?.isDirectory()) continue;
    for (const inner of await readdir(directory.at(name))) {
      const innerStats = await readStats(directory.at(`${name}/${inner}`));
      if (innerStats) identities.add(getIdentity(innerStats));
    }
  }
  return identities;
}
