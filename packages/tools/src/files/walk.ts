import type { Dirent } from "node:fs";
import { opendir } from "node:fs/promises";
import { join } from "node:path";
import { AgentError } from "capstan";
import { checkPlace } from "./check-opened.ts";
import { type Directory, openIn } from "./directory.ts";
import { systemCode } from "./file-failure.ts";
import { isOnList, isProtectedPath } from "./protected-names.ts";
import type { FileLimits } from "./workspace.ts";

/** Something in a directory that is open while it is visited. */
export type Visited = {
  readonly directory: Directory;
  readonly name: string;
  readonly kind: "file" | "folder" | "link" | "other";
};

/** How far a walk goes, and what became of it. */
export type Walk = {
  readonly signal: AbortSignal;
  readonly depth: number;
  /** Also what is in the folders of dependencies. */
  readonly isThorough: boolean;
  /** In milliseconds of `performance.now()`. */
  readonly until: number;
  visitsLeft: number;
  /** Set when there was more to see: in words. */
  stopped?: string;
};

/** Below this depth nothing is looked at: each level holds a directory open. */
export const mostDepth = 32;

/** A walk that begins at this moment. */
export function newWalk(
  limits: FileLimits,
  { depth, signal, isThorough = false }: Pick<Walk, "depth" | "signal"> & { readonly isThorough?: boolean },
): Walk {
  return {
    signal,
    isThorough,
    depth: Math.min(depth, mostDepth),
    until: performance.now() + limits.timeMs,
    visitsLeft: limits.visits,
  };
}

/** Whether the time is up; the walk then says so. */
export function isLate(walk: Walk): boolean {
  walk.signal.throwIfAborted();
  if (performance.now() <= walk.until) return false;
  walk.stopped ??= "it took too long";
  return true;
}

/** Dependencies are many and seldom meant; they are looked at when a path leads into them. */
const passedBy = "node_modules";

/** Everything below a directory, in the order of its names, folders before what is in them. Protected things are left out. */
export async function* walkIn(directory: Directory, walk: Walk, depth = 1): AsyncGenerator<Visited> {
  for (const { name, kind } of await entriesOf(directory, walk)) {
    if (isLate(walk)) return;
    yield { directory, name, kind };
    if (kind !== "folder" || depth >= walk.depth || walk.stopped) continue;
    if (name === passedBy && !walk.isThorough) continue;
    const inner = await openQuietly(directory, name);
    if (!inner) continue;
    try {
      yield* walkIn(inner, walk, depth + 1);
    } finally {
      await inner.handle.close();
    }
  }
}

/** A folder that is gone, may not be read, or is refused is no reason to end a walk. */
async function openQuietly(directory: Directory, name: string): Promise<Directory | undefined> {
  try {
    return await openIn(directory, name);
  } catch (error) {
    if (isPassable(error)) return undefined;
    throw error;
  }
}

/** Whether a walk goes on after it: what is meant is the rest. */
export function isPassable(error: unknown): boolean {
  if (error instanceof AgentError) return true;
  return ["ENOENT", "ENOTDIR", "EACCES", "EPERM"].includes(systemCode(error) ?? "");
}

async function entriesOf(directory: Directory, walk: Walk): Promise<Pick<Visited, "name" | "kind">[]> {
  const { root, names } = directory;
  const entries: Pick<Visited, "name" | "kind">[] = [];
  for await (const entry of await opendir(directory.at("."), { bufferSize: 256 })) {
    if (walk.visitsLeft-- <= 0) {
      walk.stopped ??= "there are too many files";
      break;
    }
    // What leads here is not protected, so the last folder and the name are all there is to look at.
    if (isOnList([...names.slice(-1), entry.name])) continue;
    if (isProtectedPath(root, join(root.path, ...names, entry.name))) continue;
    entries.push({ name: entry.name, kind: kindOf(entry) });
  }
  // Listed by its path, it may have been another directory.
  if (!root.byHandle) await checkPlace(directory, directory.at("."));
  return entries.sort((left, right) => (left.name < right.name ? -1 : 1));
}

function kindOf(entry: Dirent): Visited["kind"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : "other";
}
