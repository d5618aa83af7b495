import type { BigIntStats } from "node:fs";
import { type FileHandle, lstat, readlink, realpath, statfs } from "node:fs/promises";
import { sep } from "node:path";
import { createSecurityError, quoteNames } from "./file-errors.ts";
import { getIdentity } from "./file-identity.ts";
import { isWithin } from "./parse-path.ts";
import { assertNotProtected, hasProtectedName, isProtectedPath } from "./protected-paths.ts";
import { isSpecialFileSystem, type Root } from "./root.ts";

/** An open file or directory and how it was reached. */
export type Opened = {
  readonly root: Root;
  /** Its path below the root. */
  readonly names: readonly string[];
  readonly handle: FileHandle;
  /** Identities of the files in `root.protect`. */
  readonly forbidden: ReadonlySet<string>;
};

/** What is known about a verified file or directory. */
export type Verified = {
  readonly stats: BigIntStats;
  /** Its real path below the root, which differs from `names` for Windows short names and other spellings. */
  readonly realNames: readonly string[];
};

/**
 * Verifies that an opened file or directory is in the root, on a disk and not protected, however it was reached. `path`
 * is the path it was opened with. Throws `security`; the caller closes the handle.
 */
export async function verifyOpened(opened: Opened, path: string): Promise<Verified> {
  const { root, names, forbidden } = opened;
  assertNotProtected(root, names);
  const { stats, real } = await verifyLocation(opened, path);
  const realNames = getNamesBelow(root, real);
  if (forbidden.has(getIdentity(stats)) || isProtectedPath(root, real) || hasProtectedName(realNames))
    throw createSecurityError(`${quoteNames(names)} is protected: tools cannot read or write it.`);
  return { stats, realNames };
}

/** Verifies only that the handle is in the root and on a disk. */
export async function verifyLocation(
  opened: Opened,
  path: string,
): Promise<{ readonly stats: BigIntStats; readonly real: string }> {
  const { root, names, handle } = opened;
  const stats = await handle.stat({ bigint: true });
  const real = await findRealPath(opened, path, stats);
  if (!isWithin(real, root.path, sep)) throw createSecurityError(`${quoteNames(names)} is outside the root.`);
  // `resolveRoot` has already checked the root's own device.
  if (stats.dev !== root.device && (await isOnSpecial(handle, root)))
    throw createSecurityError(`${quoteNames(names)} is not on a disk: it is a system file.`);
  return { stats, real };
}

/** A swap can hit between the two reads of a comparison, but hardly this many times in a row. */
const maxComparisons = 5;

/** Asks the system for the real path of the handle instead of trusting `path`. */
async function findRealPath(
  { root, names, handle }: Opened,
  path: string,
  stats: BigIntStats,
): Promise<string> {
  if (root.byHandle) return readlink(`/proc/self/fd/${handle.fd}`);
  let real = path;
  for (let attempt = 0; attempt < maxComparisons && isWithin(real, root.path, sep); attempt++) {
    real = await realpath(path);
    const found = await lstat(real, { bigint: true });
    if (getIdentity(found) !== getIdentity(stats))
      throw createSecurityError(`${quoteNames(names)} was replaced while it was being opened.`);
  }
  return real;
}

function getNamesBelow(root: Root, real: string): string[] {
  const splitNames = (path: string) => path.split(sep).filter((name) => name !== "");
  return splitNames(real).slice(splitNames(root.path).length);
}

async function isOnSpecial(handle: FileHandle, root: Root): Promise<boolean> {
  return root.byHandle && isSpecialFileSystem((await statfs(`/proc/self/fd/${handle.fd}`)).type);
}
