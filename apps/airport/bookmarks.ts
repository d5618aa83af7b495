import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AgentError } from "capstan";
import { dataFolder } from "capstan/data-folder";

/** The places that people keep: ids of features, in the order in which they were kept. */
export interface Bookmarks {
  list(user: string): Promise<readonly string[]>;
  /** Changes the list of one user. Changes of one process do not get in each other's way. */
  change(user: string, to: (kept: readonly string[]) => readonly string[]): Promise<void>;
}

/** Beside the database and the logs. */
export const usualFolder = (): string => join(dataFolder(), "airport");

/**
 * One JSON file for each user, `bookmarks-<hash of the user>.json`: a list of feature ids. It is written beside and
 * then put in place, so that there is never half a file.
 */
export function fileBookmarks(folder: string = usualFolder()): Bookmarks {
  let last: Promise<unknown> = Promise.resolve();
  const fileOf = (user: string) =>
    join(folder, `bookmarks-${createHash("sha256").update(user).digest("hex").slice(0, 16)}.json`);
  const list = async (user: string) => idsIn(await textOf(fileOf(user)), fileOf(user));
  return {
    list,
    change(user, to) {
      const changed = last.then(async () => {
        const file = fileOf(user);
        await mkdir(folder, { recursive: true, mode: 0o700 });
        const beside = `${file}.${randomUUID()}`;
        await writeFile(beside, JSON.stringify(to(await list(user))), { mode: 0o600, flush: true });
        await rename(beside, file);
      });
      // The next change waits for this one, also when it fails; whoever asked for this one is told.
      last = changed.catch(() => undefined);
      return changed;
    },
  };
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return "[]";
    throw thrown;
  }
}

function idsIn(text: string, file: string): readonly string[] {
  try {
    const ids: unknown = JSON.parse(text);
    if (Array.isArray(ids) && ids.every((id) => typeof id === "string")) return ids;
  } catch (cause) {
    throw new AgentError("store_failed", `${file} is no list of bookmarks. Repair or delete it.`, { cause });
  }
  throw new AgentError("store_failed", `${file} is no list of bookmarks. Repair or delete it.`);
}
