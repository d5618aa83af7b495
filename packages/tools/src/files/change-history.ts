// Earlier contents of changed files, so that a change can be undone, also after a restart. Each change is one file in a
// folder of its root: a line of JSON, then the bytes of the earlier content. The names of these files sort by time.
import { mkdir, open, readdir, readFile, rename, stat, unlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { computeSha256 } from "../sha256.ts";
import { getSystemCode } from "./file-errors.ts";

export type UndoOptions = {
  /** Folder for the earlier contents, such as one in the data folder. Several roots can share it. */
  readonly folder: string;
  /** Max changes that are kept per root; the oldest are dropped first. Default: 200. */
  readonly maxChanges?: number;
  /** Max bytes that are kept per root, except for the newest change. Default: 100 million. */
  readonly maxBytes?: number;
};

export const defaultUndoLimits = { maxChanges: 200, maxBytes: 100_000_000 } as const;

/** A change that can be undone. */
export type StoredChange = {
  readonly id: string;
  /** Relative to the root. */
  readonly path: string;
  /** Whether the change created the file. */
  readonly isNew: boolean;
  /** Hash of the content that the change wrote. */
  readonly hash: string;
};

export type NewChange = {
  readonly path: string;
  /** The earlier content; undefined for a new file. */
  readonly before: Uint8Array | undefined;
  readonly after: Uint8Array;
};

export interface ChangeHistory {
  /** Stores the earlier content durably. Drops the oldest changes beyond the limits. */
  record(change: NewChange): Promise<StoredChange>;
  /** Yields the changes, the newest first. */
  list(): AsyncGenerator<StoredChange>;
  readBefore(change: StoredChange): Promise<Uint8Array | undefined>;
  remove(change: StoredChange): Promise<void>;
}

const suffix = ".change";
/** Longer than the longest header: a path has at most 4,096 characters. */
const maxHeaderBytes = 32_768;
const newline = 10;

export function openChangeHistory(rootPath: string, options: UndoOptions): ChangeHistory {
  const { maxChanges, maxBytes } = { ...defaultUndoLimits, ...options };
  const folder = join(resolve(options.folder), hashContent(Buffer.from(rootPath)).slice(0, 16));
  const locate = (id: string) => join(folder, id + suffix);
  const remove = async (id: string) => {
    try {
      await unlink(locate(id));
    } catch (error) {
      if (getSystemCode(error) !== "ENOENT") throw error;
    }
  };

  async function prune(ids: readonly string[]): Promise<void> {
    let bytes = 0;
    for (const [index, id] of ids.toReversed().entries()) {
      bytes += (await stat(locate(id))).size;
      // The newest change stays, whatever its size.
      if (index > 0 && (index >= maxChanges || bytes > maxBytes)) await remove(id);
    }
  }
  return {
    async record({ path, before, after }) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const ids = await listIds(folder);
      const id = createId(ids.at(-1));
      const header = { path, isNew: before === undefined, hash: hashContent(after) };
      const content = [Buffer.from(`${JSON.stringify(header)}\n`), before ?? Buffer.alloc(0)];
      await writeDurably(locate(id), Buffer.concat(content));
      await prune([...ids, id]);
      return { id, ...header };
    },
    async *list() {
      for (const id of (await listIds(folder)).toReversed()) {
        const header = await readHeader(locate(id));
        if (header) yield { id, ...header };
      }
    },
    async readBefore({ id, isNew }) {
      if (isNew) return undefined;
      const bytes = await readFile(locate(id));
      return bytes.subarray(bytes.indexOf(newline) + 1);
    },
    remove: ({ id }) => remove(id),
  };
}

export function hashContent(content: Uint8Array): string {
  return computeSha256(content);
}

/** Ids sort in the order of the changes, also if the clock goes back. */
function createId(newest: string | undefined): string {
  const time = Math.max(Date.now(), Number(newest?.split("-")[0] ?? 0) + 1);
  return `${String(time).padStart(15, "0")}-${crypto.randomUUID().slice(0, 8)}`;
}

async function listIds(folder: string): Promise<readonly string[]> {
  try {
    const names = (await readdir(folder)).filter((name) => name.endsWith(suffix));
    return names.map((name) => name.slice(0, -suffix.length)).sort();
  } catch (error) {
    if (getSystemCode(error) === "ENOENT") return [];
    throw error;
  }
}

/** Renames only a complete file: a crash leaves no half of an earlier content. */
async function writeDurably(path: string, content: Uint8Array): Promise<void> {
  const temporary = `${path}.tmp`;
  const handle = await open(temporary, "wx", 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, path);
}

/** Returns undefined if another process has dropped the change, or if the file is damaged. */
async function readHeader(path: string): Promise<Omit<StoredChange, "id"> | undefined> {
  try {
    const handle = await open(path, "r");
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(maxHeaderBytes), 0, maxHeaderBytes, 0);
      const line = buffer.subarray(0, bytesRead);
      return JSON.parse(line.subarray(0, line.indexOf(newline)).toString());
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (getSystemCode(error) === "ENOENT" || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
