// A file is never written in place. The new content goes into a file of its own in the same directory, reaches the
// disk, and then takes the name in one step: whoever reads, and whatever crashes, finds the old content or the new one.
// A crash can leave a file named `.capstan-….tmp` behind; it is in nobody's way, and no tool shows it.
import { randomUUID } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, open, rename, unlink } from "node:fs/promises";
import { AgentError } from "capstan";
import { checkPlace } from "./check-opened.ts";
import { type Directory, find, statsAt } from "./directory.ts";
import { shown } from "./file-failure.ts";
import { identityOf } from "./file-identity.ts";
import { refuseUnlessFile } from "./open-file.ts";
import { noFollow } from "./open-flags.ts";

const { O_WRONLY, O_CREAT, O_EXCL } = constants;

/** Neither executable nor anything else special, whatever the umask allows. */
const newMode = 0o666;
const modeBits = 0o777n;

/** The new content of a name. */
export type Replacement = {
  readonly name: string;
  readonly content: Uint8Array;
  /** The file as it was when the content was made from it; nothing when there was none. */
  readonly seen: BigIntStats | undefined;
};

/** Gives a name in a directory new content. On any failure the old content stays. */
export async function replaceFile(directory: Directory, { name, content, seen }: Replacement): Promise<void> {
  const names = [...directory.names, name];
  const target = (await find(directory, name))?.name ?? name;
  const temporary = `.capstan-${randomUUID()}.tmp`;
  const handle = await open(directory.at(temporary), O_WRONLY | O_CREAT | O_EXCL | noFollow, newMode);
  try {
    try {
      const { root, forbidden } = directory;
      await checkPlace({ root, names, handle, forbidden }, directory.at(temporary));
      await handle.writeFile(content);
      if (seen) await keepOwnerAndMode(handle, seen);
      await handle.sync();
    } finally {
      await handle.close();
    }
    refuseIfChanged(await statsAt(directory.at(target)), seen, names);
    await rename(directory.at(temporary), directory.at(target));
  } catch (error) {
    // What went wrong first is what there is to tell.
    await unlink(directory.at(temporary)).catch(() => undefined);
    throw error;
  }
  // The new name must survive a loss of power too. Not every system lets a directory be synced.
  if (directory.root.byHandle) await directory.handle.sync();
}

async function keepOwnerAndMode(handle: FileHandle, { mode, uid, gid }: BigIntStats): Promise<void> {
  // Only root may give files away; whoever is not root owns the new file as it owns all it makes.
  if (process.getuid?.() === 0) await handle.chown(Number(uid), Number(gid));
  await handle.chmod(Number(mode & modeBits));
}

/** What a person saved in the meantime is not overwritten, and what has become a link or a pipe is refused. */
function refuseIfChanged(
  found: BigIntStats | undefined,
  seen: BigIntStats | undefined,
  names: readonly string[],
): void {
  if (found) refuseUnlessFile(found, names);
  if (versionOf(found) === versionOf(seen)) return;
  const message = `${shown(names)} was changed by somebody else meanwhile. Nothing was written: read it again.`;
  throw new AgentError("tool_failed", message, { retryable: false });
}

function versionOf(stats: BigIntStats | undefined): string | undefined {
  return stats && `${identityOf(stats)}:${stats.size}:${stats.mtimeNs}`;
}
