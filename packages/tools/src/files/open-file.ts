import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, open, readdir } from "node:fs/promises";
import { checkOpened } from "./check-opened.ts";
import { type Directory, find, openRoot, statsAt } from "./directory.ts";
import { badArguments, notFound, refused, shown, systemCode } from "./file-failure.ts";
import { identityOf } from "./file-identity.ts";
import { noFollow } from "./open-flags.ts";
import { isOnList, refuseProtected } from "./protected-names.ts";

/** A regular file of the root, open for reading; close it. */
export type OpenFile = { readonly handle: FileHandle; readonly stats: BigIntStats };

// Not blocking: opening a named pipe would else wait for somebody to write. No terminal becomes ours.
const { O_RDONLY, O_NONBLOCK = 0, O_NOCTTY = 0 } = constants;

/** Opens a file of a directory for reading. What is not a regular file is refused, before it is opened and after. */
export async function openFile(directory: Directory, name: string): Promise<OpenFile> {
  const { root, forbidden } = directory;
  const names = [...directory.names, name];
  refuseProtected(root, names);
  const found = await find(directory, name);
  if (!found) throw notFound(`There is no file ${shown(names)}. Use list_files to see which exist.`);
  refuseUnlessFile(found.stats, names);
  const path = directory.at(found.name);
  const handle = await opened(path, names);
  try {
    const stats = await checkOpened({ root, names, handle, forbidden }, path);
    refuseUnlessFile(stats, names);
    if (stats.nlink > 1n) await checkLinks(directory, stats, names);
    return { handle, stats };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function opened(path: string, names: readonly string[]): Promise<FileHandle> {
  try {
    return await open(path, O_RDONLY | noFollow | O_NONBLOCK | O_NOCTTY);
  } catch (error) {
    // What was a file a moment ago: ENXIO is a socket or a pipe, ELOOP a link.
    if (systemCode(error) !== "ENXIO" && systemCode(error) !== "ELOOP") throw error;
    throw refused(`${shown(names)} was exchanged while it was opened.`, error);
  }
}

/** Folders are a mistake, the rest is a risk: pipes wait for ever, devices and sockets do things. */
export function refuseUnlessFile(stats: BigIntStats, names: readonly string[]): void {
  if (stats.isFile()) return;
  if (stats.isDirectory())
    throw badArguments(`${shown(names)} is a folder. Use list_files to see what is in it.`);
  if (stats.isSymbolicLink()) throw refused(`${shown(names)} is a link. Links are not followed.`);
  throw refused(`${shown(names)} is not a regular file but a device, a pipe or a socket.`);
}

/** A file with other names too: one of those may be protected. Where all the names are, no system tells. */
async function checkLinks(directory: Directory, stats: BigIntStats, names: readonly string[]): Promise<void> {
  if (directory.root.strict)
    throw refused(`${shown(names)} has more than one hard link, and the root is strict.`);
  const identity = identityOf(stats);
  const isNear = (await protectedIn(directory)).has(identity);
  if (isNear || (await protectedInRoot(directory)).has(identity))
    throw refused(`${shown(names)} is another name of a protected file.`);
}

const inRoot = new WeakMap<ReadonlySet<string>, Promise<ReadonlySet<string>>>();

/** Read once per operation: `forbidden` is made anew by each, and shared by all the directories it opens. */
function protectedInRoot({ root, forbidden }: Directory): Promise<ReadonlySet<string>> {
  const known = inRoot.get(forbidden);
  if (known) return known;
  const reading = openRoot(root).then(async (top) => {
    try {
      return await protectedIn(top);
    } finally {
      await top.handle.close();
    }
  });
  inRoot.set(forbidden, reading);
  return reading;
}

/** The identities of the protected files of a directory, and of those in its protected folders. */
async function protectedIn(directory: Directory): Promise<ReadonlySet<string>> {
  const identities = new Set<string>();
  const names = (await readdir(directory.at("."))).filter((name) => isOnList([name]));
  for (const name of names) {
    const stats = await statsAt(directory.at(name));
    if (stats) identities.add(identityOf(stats));
    if (!stats?.isDirectory()) continue;
    for (const inner of await readdir(directory.at(name))) {
      const innerStats = await statsAt(directory.at(`${name}/${inner}`));
      if (innerStats) identities.add(identityOf(innerStats));
    }
  }
  return identities;
}
