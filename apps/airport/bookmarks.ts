import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AgentError } from "capstan";
import { dataFolder } from "capstan/data-folder";

/** Stores each user's bookmarks: feature ids, oldest first. */
export interface Bookmarks {
  list(user: string): Promise<readonly string[]>;
  /** Replaces one user's list. Updates within a process run one after the other. */
  update(user: string, getNext: (ids: readonly string[]) => readonly string[]): Promise<void>;
}

/** The data folder also holds the database and the logs. */
export const getDefaultFolder = (): string => join(dataFolder(), "airport");

/**
 * Stores one JSON file per user, `bookmarks-<hash of the user>.json`, with a list of feature ids. Each update writes a
 * temporary file and renames it, so a crash never leaves a partial file.
 */
export function fileBookmarks(folder: string = getDefaultFolder()): Bookmarks {
  let lastUpdate: Promise<unknown> = Promise.resolve();
  const getFile = (user: string) =>
    join(folder, `bookmarks-${createHash("sha256").update(user).digest("hex").slice(0, 16)}.json`);
  const list = async (user: string) => parseIds(await readBookmarkFile(getFile(user)), getFile(user));
  return {
    list,
    update(user, getNext) {
      const update = lastUpdate.then(async () => {
        const file = getFile(user);
        await mkdir(folder, { recursive: true, mode: 0o700 });
        const temporaryFile = `${file}.${randomUUID()}`;
        await writeFile(temporaryFile, JSON.stringify(getNext(await list(user))), {
          mode: 0o600,
          flush: true,
        });
        await rename(temporaryFile, file);
      });
      // The next update waits for this one even if it fails; the error goes to this caller only.
      lastUpdate = update.catch(() => undefined);
      return update;
    },
  };
}

async function readBookmarkFile(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "[]";
    throw error;
  }
}

function parseIds(text: string, file: string): readonly string[] {
  const message = `${file} is not a valid list of bookmarks. Repair or delete it.`;
  let ids: unknown;
  try {
    ids = JSON.parse(text);
  } catch (cause) {
    throw new AgentError("store_failed", message, { cause });
  }
  if (Array.isArray(ids) && ids.every((id) => typeof id === "string")) return ids;
  throw new AgentError("store_failed", message);
}
