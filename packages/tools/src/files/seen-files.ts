import type { BigIntStats } from "node:fs";
import { computeSha256 } from "../sha256.ts";
import { createArgumentError, quotePath } from "./file-errors.ts";

/** A file of a session, and the arguments of the call that changes it. */
type ChangedFile = { readonly sessionId: string; readonly path: string; readonly call: string };

/**
 * Remembers files as a session read them and as the user saw them in a diff, to refuse a change of a file that another
 * program has changed since. In memory: after a restart, only the text that an edit looks for is checked.
 */
export interface SeenFiles {
  recordRead(sessionId: string, path: string, stats: BigIntStats): void;
  /** Undefined `stats` mean that there was no file. */
  recordShown(call: string, path: string, stats: BigIntStats | undefined): void;
  /** Throws if the file has changed since it was read or shown. */
  assertUnchanged(file: ChangedFile, stats: BigIntStats | undefined): void;
  /** Throws if the file has changed since it was shown, whether it was read or not. */
  assertAsShown(call: string, path: string, stats: BigIntStats | undefined): void;
  /** A change by these tools: other calls that were shown the earlier file can continue. */
  recordChange(
    file: ChangedFile,
    change: { readonly before: BigIntStats | undefined; readonly after: BigIntStats | undefined },
  ): void;
}

const maxFiles = 10_000;

export function createSeenFiles(): SeenFiles {
  const read = new Map<string, string>();
  const shown = new Map<string, { readonly path: string; readonly version: string }>();
  const toKey = (sessionId: string, path: string) => `${sessionId}\0${path}`;
  const assertAsShown: SeenFiles["assertAsShown"] = (call, path, stats) => {
    const lastShown = shown.get(hash(call))?.version;
    if (lastShown !== undefined && lastShown !== getFileVersion(stats))
      throw createChangedError(path, "the user saw the change");
  };
  return {
    assertAsShown,
    recordRead: (sessionId, path, stats) => setBounded(read, toKey(sessionId, path), getFileVersion(stats)),
    recordShown: (call, path, stats) =>
      setBounded(shown, hash(call), { path, version: getFileVersion(stats) }),
    assertUnchanged({ sessionId, path, call }, stats) {
      const lastRead = read.get(toKey(sessionId, path));
      if (lastRead !== undefined && lastRead !== getFileVersion(stats))
        throw createChangedError(path, "it was read");
      assertAsShown(call, path, stats);
    },
    recordChange({ sessionId, path, call }, { before, after }) {
      const [earlier, version] = [getFileVersion(before), getFileVersion(after)];
      setBounded(read, toKey(sessionId, path), version);
      shown.delete(hash(call));
      for (const [other, file] of shown)
        if (file.path === path && file.version === earlier) shown.set(other, { path, version });
    },
  };
}

/** Arguments can be long: a call that is never made should not be kept whole. */
function hash(call: string): string {
  return computeSha256(call, "base64");
}

function getFileVersion(stats: BigIntStats | undefined): string {
  return stats ? `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}` : "none";
}

function setBounded<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > maxFiles && oldest !== undefined) map.delete(oldest);
}

function createChangedError(path: string, when: string): Error {
  return createArgumentError(
    `${quotePath(path)} has changed since ${when}. Nothing was written. Read the file again.`,
  );
}
