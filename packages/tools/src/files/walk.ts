import type { Dirent } from "node:fs";
import { opendir } from "node:fs/promises";
import { join } from "node:path";
import { AgentError } from "capstan";
import { type Directory, openSubdirectory } from "./directory.ts";
import { getSystemCode } from "./file-errors.ts";
import { hasProtectedName, isProtectedPath } from "./protected-paths.ts";
import { verifyLocation } from "./verify-opened.ts";
import type { FileLimits } from "./workspace.ts";

/** A directory entry. Its directory is open during the visit. */
export type VisitedEntry = {
  readonly directory: Directory;
  readonly name: string;
  readonly kind: "file" | "folder" | "link" | "other";
};

/** Limits and progress of a walk. */
export type Walk = {
  readonly signal: AbortSignal;
  readonly depth: number;
  /** Also enter folders of dependencies. */
  readonly isThorough: boolean;
  /** On the clock of `performance.now()`. */
  readonly deadline: number;
  visitsLeft: number;
  /** Called for entries that the walk skips, with the error, if any. */
  readonly onSkip?: ((path: string, error?: unknown) => void) | undefined;
  /** Set when the walk ended early; used in messages. */
  stopReason?: string;
};

/** Each level keeps a directory open. */
export const maxDepth = 32;

export function createWalk(
  limits: FileLimits,
  {
    depth,
    signal,
    isThorough = false,
    onSkip,
  }: Pick<Walk, "depth" | "signal" | "onSkip"> & { readonly isThorough?: boolean },
): Walk {
  return {
    signal,
    isThorough,
    onSkip,
    depth: Math.min(depth, maxDepth),
    deadline: performance.now() + limits.timeMs,
    visitsLeft: limits.visits,
  };
}

/** Whether the time limit is reached; sets `stopReason`. */
export function isTimeUp(walk: Walk): boolean {
  walk.signal.throwIfAborted();
  if (performance.now() <= walk.deadline) return false;
  walk.stopReason ??= "time limit reached";
  return true;
}

/** Entered only when the path of the call leads into it. */
export const skippedFolder = "node_modules";

/** Yields everything below a directory, sorted by name, each folder before its contents. Skips protected entries. */
export async function* walkDirectory(
  directory: Directory,
  walk: Walk,
  depth = 1,
): AsyncGenerator<VisitedEntry> {
  for (const { name, kind } of await listEntries(directory, walk)) {
    if (isTimeUp(walk)) return;
    yield { directory, name, kind };
    if (kind !== "folder" || depth >= walk.depth || walk.stopReason) continue;
    if (name === skippedFolder && !walk.isThorough) continue;
    const inner = await tryOpenDirectory(directory, name, walk);
    if (!inner) continue;
    try {
      yield* walkDirectory(inner, walk, depth + 1);
    } finally {
      await inner.handle.close();
    }
  }
}

/** Returns undefined for a folder that is missing, unreadable or refused: the walk continues. */
async function tryOpenDirectory(
  directory: Directory,
  name: string,
  { onSkip }: Walk,
): Promise<Directory | undefined> {
  try {
    return await openSubdirectory(directory, name);
  } catch (error) {
    if (!isSkippableError(error)) throw error;
    onSkip?.([...directory.names, name].join("/"), error);
    return undefined;
  }
}

export function isSkippableError(error: unknown): boolean {
  if (error instanceof AgentError) return true;
  return ["ENOENT", "ENOTDIR", "EACCES", "EPERM"].includes(getSystemCode(error) ?? "");
}

async function listEntries(directory: Directory, walk: Walk): Promise<Pick<VisitedEntry, "name" | "kind">[]> {
  const { root, names } = directory;
  const entries: Pick<VisitedEntry, "name" | "kind">[] = [];
  for await (const entry of await opendir(directory.at("."), { bufferSize: 256 })) {
    if (walk.visitsLeft-- <= 0) {
      walk.stopReason ??= "too many files";
      break;
    }
    // The parents were checked already: only the last folder and the name matter.
    const isProtected =
      hasProtectedName([...names.slice(-1), entry.name]) ||
      isProtectedPath(root, join(root.path, ...names, entry.name));
    if (isProtected) walk.onSkip?.([...names, entry.name].join("/"));
    else entries.push({ name: entry.name, kind: getEntryKind(entry) });
  }
  // Opened by path, so it may have been another directory.
  if (!root.byHandle) await verifyLocation(directory, directory.at("."));
  return entries.sort((left, right) => (left.name < right.name ? -1 : 1));
}

function getEntryKind(entry: Dirent): VisitedEntry["kind"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : "other";
}
