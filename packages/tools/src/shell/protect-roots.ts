import { access, constants, realpath, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AgentError } from "capstan";
import { isWithin } from "../files/parse-path.ts";
import { findConfiguredPaths } from "./configured-paths.ts";
import { disarmRepositories, renameAside } from "./disarm-repositories.ts";
import { type FindProtectedOptions, findProtected, type ProtectedPaths } from "./find-protected.ts";
import { exists, identifyFile } from "./repositories.ts";
import { decodeBytes, fromBytes } from "./walk-tree.ts";

export type Protection = {
  /** Arguments of bwrap, as byte strings, after those that every command has in common. */
  readonly args: readonly string[];
  /** Disarms the repositories that the command has created, and returns their new paths. Call it when the command has ended. */
  finish(): Promise<readonly string[]>;
};

// bwrap takes at most 9,000 arguments, and its time grows with the square of the mounts.
const maxMounts = 1_000;

/**
 * Hides the credentials below the roots, and makes repositories and what they execute read-only. A mount cannot be renamed
 * or replaced, and neither can the folders above it, which are mounted too.
 */
export async function protectRoots(options: FindProtectedOptions): Promise<Protection> {
  const { roots, dataFolder } = options;
  const found = await findProtected(options);
  const configured = await findConfiguredPaths([...found.repositories.keys()], roots);
  const { readOnly, watched } = await sortByMountability(
    [...found.repositories.keys(), ...configured],
    roots,
  );
  const absent = await listAbsentRepositories(roots, found);
  const pinned = [...readOnly, ...(dataFolder === undefined ? [] : [dataFolder])]
    .flatMap((path) => listFoldersAbove(path, roots))
    .filter((path) => !readOnly.some((folder) => isWithin(path, folder)));
  const mounts = [
    ...pinned.map((path) => ["--bind", path, path]),
    ...readOnly.map((path) => ["--ro-bind", path, path]),
    ...absent.map((path) => ["--tmpfs", path, "--remount-ro", path]),
    ...[...found.secrets].map(([path, type]) =>
      type === "folder" ? ["--tmpfs", path] : ["--dev-bind", "/dev/null", path],
    ),
  ];
  return {
    args: sortMounts(mounts, found),
    async finish() {
      for (const path of absent) await rmdir(fromBytes(path)).catch(() => undefined);
      const created = await disarmChanged(watched, found);
      return [...created, ...(await disarmRepositories(roots, found))];
    },
  };
}

/** Nothing can be mounted on a path that does not exist or leads over a link: these are compared afterwards. */
async function sortByMountability(paths: readonly string[], roots: readonly string[]) {
  const readOnly: string[] = [];
  const watched = new Map<string, string | undefined>();
  for (const path of new Set(paths)) {
    const root = roots.find((one) => isWithin(path, one)) ?? path;
    const target = await resolvePath(path);
    const isPlain = target === `${await resolvePath(root)}${path.slice(root.length)}`;
    if (!isPlain) watched.set(path, await identifyFile(path).catch(() => undefined));
    if (target !== undefined && roots.some((one) => target !== one && isWithin(target, one)))
      readOnly.push(target);
    else if (isPlain) readOnly.push(path);
  }
  return { readOnly, watched };
}

function resolvePath(path: string): Promise<string | undefined> {
  return realpath(fromBytes(path), { encoding: "latin1" }).catch(() => undefined);
}

async function disarmChanged(
  watched: ReadonlyMap<string, string | undefined>,
  { repositories }: ProtectedPaths,
): Promise<readonly string[]> {
  const renamed: string[] = [];
  for (const [path, before] of watched) {
    const identity = await identifyFile(path).catch(() => undefined);
    if (identity !== undefined && identity !== before && !repositories.has(path))
      renamed.push(decodeBytes(await renameAside(path)));
  }
  return renamed;
}

/** `.git` of the roots that are no repositories and could become one. */
async function listAbsentRepositories(
  roots: readonly string[],
  { repositories }: ProtectedPaths,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const root of roots.filter((one) => !repositories.has(one)))
    if (!(await exists(join(root, ".git"))) && (await canWrite(root))) found.push(join(root, ".git"));
  return found;
}

function canWrite(folder: string): Promise<boolean> {
  return access(fromBytes(folder), constants.W_OK).then(
    () => true,
    () => false,
  );
}

/** The folders between a path and its root, which would take the path along if they were renamed. */
function listFoldersAbove(path: string, roots: readonly string[]): readonly string[] {
  const above = dirname(path);
  const isBelowRoot = roots.some((root) => above !== root && isWithin(above, root));
  return isBelowRoot && !roots.includes(above) ? [...listFoldersAbove(above, roots), above] : [];
}

/** Outer folders first, because a mount covers what is mounted below it. Nothing is mounted in a hidden folder. */
function sortMounts(mounts: readonly (readonly string[])[], { secrets }: ProtectedPaths): readonly string[] {
  const getPath = (mount: readonly string[]) => mount.at(-1) ?? "";
  const hidden = [...secrets].flatMap(([path, type]) => (type === "folder" ? [path] : []));
  const isVisible = (path: string) => !hidden.some((folder) => path !== folder && isWithin(path, folder));
  const unique = new Map(mounts.map((mount) => [mount.join("\0"), mount]));
  if (unique.size > maxMounts) {
    const advice = "Set `cwd` of shellTool to a smaller folder, or delete some of them";
    const message = `The command did not run: its folder has more than ${maxMounts} files with names such as ".env", which commands must not see, and repositories. ${advice}.`;
    throw new AgentError("sandbox_unavailable", message);
  }
  return [...unique.values()]
    .filter((mount) => isVisible(getPath(mount)))
    .sort((a, b) => (getPath(a) < getPath(b) ? -1 : getPath(a) > getPath(b) ? 1 : 0))
    .flat();
}
