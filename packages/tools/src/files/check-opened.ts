import type { BigIntStats } from "node:fs";
import { type FileHandle, lstat, readlink, realpath, statfs } from "node:fs/promises";
import { sep } from "node:path";
import { refused, shown } from "./file-failure.ts";
import { identityOf } from "./file-identity.ts";
import { isWithin } from "./file-path.ts";
import { isOnList, isProtectedPath, refuseProtected } from "./protected-names.ts";
import { isSpecial, type Root } from "./root.ts";

/** Something that is open, and how it was reached. */
export type Opened = {
  readonly root: Root;
  /** The names that led to it from the root. */
  readonly names: readonly string[];
  readonly handle: FileHandle;
  /** The identities of `root.protect`. */
  readonly forbidden: ReadonlySet<string>;
};

/**
 * Whatever the way to it looked like, what is open must lie in the root, on a disk, and not be protected. `path` is what
 * it was opened by. Throws `security`; the caller closes.
 */
export async function checkOpened(opened: Opened, path: string): Promise<BigIntStats> {
  const { root, names, forbidden } = opened;
  refuseProtected(root, names);
  const { stats, real } = await checkPlace(opened, path);
  if (forbidden.has(identityOf(stats)) || isProtectedPath(root, real) || isOnList(below(root, real)))
    throw refused(`${shown(names)} is protected: tools do not read or write it.`);
  return stats;
}

/** The first half of it: what is open lies in the root, and on a disk. */
export async function checkPlace(
  opened: Opened,
  path: string,
): Promise<{ readonly stats: BigIntStats; readonly real: string }> {
  const { root, names, handle } = opened;
  const stats = await handle.stat({ bigint: true });
  const real = await realPathOf(opened, path, stats);
  if (!isWithin(real, root.path, sep)) throw refused(`${shown(names)} leads out of the root.`);
  // The verdict on the root's own device was given when the root was named.
  if (stats.dev !== root.device && (await isOnSpecial(handle, root)))
    throw refused(`${shown(names)} is not on a disk: it belongs to the system.`);
  return { stats, real };
}

/** Between the two halves of a comparison there is time for an exchange, but hardly for so many. */
const comparisons = 5;

/** Where what is open lies, as the system says and not as the path did. */
async function realPathOf(
  { root, names, handle }: Opened,
  path: string,
  stats: BigIntStats,
): Promise<string> {
  if (root.byHandle) return readlink(`/proc/self/fd/${handle.fd}`);
  let real = path;
  for (let times = 0; times < comparisons && isWithin(real, root.path, sep); times++) {
    real = await realpath(path);
    const there = await lstat(real, { bigint: true });
    if (identityOf(there) !== identityOf(stats))
      throw refused(`${shown(names)} was exchanged while it was opened.`);
  }
  return real;
}

/** The real names: a short name of Windows, or a name in other letters, leads to the same file. */
function below(root: Root, real: string): string[] {
  const names = (path: string) => path.split(sep).filter((name) => name !== "");
  return names(real).slice(names(root.path).length);
}

async function isOnSpecial(handle: FileHandle, root: Root): Promise<boolean> {
  return root.byHandle && isSpecial((await statfs(`/proc/self/fd/${handle.fd}`)).type);
}
