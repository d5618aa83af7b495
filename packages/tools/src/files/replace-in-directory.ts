// A file is never written in place. The new content goes to a temporary file in the same directory, is synced, and then
// renamed over the target, so that readers and crashes see either the old or the new content. A crash can leave a
// `.capstan-….tmp` file behind, which is harmless and hidden from the tools.
import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, open, rename, unlink } from "node:fs/promises";
import { AgentError } from "capstan";
import { type Directory, findEntry } from "./directory.ts";
import { quoteNames } from "./file-errors.ts";
import { getIdentity } from "./file-identity.ts";
import { assertRegularFile } from "./open-file.ts";
import { noFollow } from "./open-flags.ts";
import { readStats } from "./read-stats.ts";
import { verifyLocation } from "./verify-opened.ts";

const { O_WRONLY, O_CREAT, O_EXCL } = constants;

/** Not executable. The umask may remove more bits. */
const newFileMode = 0o666;
const permissionBits = 0o777n;

export type Replacement = {
  readonly name: string;
  readonly content: Uint8Array;
  /** The file that the new content is based on; undefined for a new file. */
  readonly previous: BigIntStats | undefined;
};

/** Replaces the content of a directory entry atomically. On failure the old content stays. */
export async function replaceInDirectory(
  directory: Directory,
  { name, content, previous }: Replacement,
): Promise<void> {
  const names = [...directory.names, name];
  const target = (await findEntry(directory, name))?.name ?? name;
  const temporary = `.capstan-${crypto.randomUUID()}.tmp`;
  const handle = await open(directory.at(temporary), O_WRONLY | O_CREAT | O_EXCL | noFollow, newFileMode);
  try {
    try {
      const { root, forbidden } = directory;
      await verifyLocation({ root, names, handle, forbidden }, directory.at(temporary));
      await handle.writeFile(content);
      if (previous) await keepOwnerAndMode(handle, previous);
      await handle.sync();
    } finally {
      await handle.close();
    }
    assertUnchanged(await readStats(directory.at(target)), previous, names);
    await rename(directory.at(temporary), directory.at(target));
  } catch (error) {
    // Report the first error, not a failed cleanup.
    await unlink(directory.at(temporary)).catch(() => undefined);
    throw error;
  }
  // Makes the rename survive a power loss. Not every system can sync a directory.
  if (directory.root.byHandle) await directory.handle.sync();
}

/** Removes a directory entry, unless it was changed in the meantime. */
export async function removeFromDirectory(
  directory: Directory,
  { name, previous }: Pick<Replacement, "name"> & { readonly previous: BigIntStats },
): Promise<void> {
  const target = (await findEntry(directory, name))?.name ?? name;
  assertUnchanged(await readStats(directory.at(target)), previous, [...directory.names, name]);
  await unlink(directory.at(target));
  if (directory.root.byHandle) await directory.handle.sync();
}

async function keepOwnerAndMode(handle: FileHandle, { mode, uid, gid }: BigIntStats): Promise<void> {
  // Only root can change the owner; for everyone else the new file already has the right one.
  if (process.getuid?.() === 0) await handle.chown(Number(uid), Number(gid));
  await handle.chmod(Number(mode & permissionBits));
}

/** Does not overwrite changes made in the meantime, and refuses an entry that has become a link or pipe. */
function assertUnchanged(
  found: BigIntStats | undefined,
  previous: BigIntStats | undefined,
  names: readonly string[],
): void {
  if (found) assertRegularFile(found, names);
  if (getVersion(found) === getVersion(previous)) return;
  const message = `${quoteNames(names)} was changed by another program. Nothing was written: read it again.`;
  throw new AgentError("tool_failed", message, { retryable: false });
}

function getVersion(stats: BigIntStats | undefined): string | undefined {
  return stats && `${getIdentity(stats)}:${stats.size}:${stats.mtimeNs}`;
}
