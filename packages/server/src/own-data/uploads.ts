import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { AgentError } from "capstan";

export type UploadLimits = {
  /** Of all files of one source together. Default: 2 GB. */
  readonly maxBytes?: number;
  /** Per source. Default: 20,000. */
  readonly maxFiles?: number;
};

/** The files that a client uploads for one source. */
export interface Uploads {
  /**
   * Writes a file while it arrives, and returns its size. Sending the same path again replaces the file. Rejects with
   * `invalid_input` for a path that is not a plain relative one, and with `body_too_large` beyond the limits.
   */
  write(path: string, body: ReadableStream<Uint8Array> | null): Promise<number>;
  /** Returns the absolute paths of the uploaded files and folders, without those in folders. */
  list(): Promise<readonly string[]>;
}

const defaultMaxBytes = 2_000_000_000;
const defaultMaxFiles = 20_000;

/** `folder` is the source's own folder. */
export function createUploads(folder: string, limits: UploadLimits = {}): Uploads {
  const { maxBytes = defaultMaxBytes, maxFiles = defaultMaxFiles } = limits;
  const root = join(folder, "files");
  const sizes = new Map<string, number>();

  function assertWithinLimits(path: string, size: number): void {
    sizes.set(path, size);
    if (sizes.size > maxFiles)
      throw new AgentError("body_too_large", `More than ${maxFiles} files. Upload a smaller folder.`);
    const total = [...sizes.values()].reduce((sum, each) => sum + each, 0);
    if (total <= maxBytes) return;
    const message = `The files exceed ${maxBytes} bytes with "${path}". Upload fewer files, or open the folder with \`capstan app\` on the server.`;
    throw new AgentError("body_too_large", message);
  }

  return {
    async write(path, body) {
      const segments = splitPath(path);
      const relative = segments.join("/");
      // Outside of `files`, so that an unfinished file is never loaded.
      const part = join(folder, `${randomUUID()}.part`);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      let size = 0;
      async function* count(chunks: AsyncIterable<Uint8Array>) {
        assertWithinLimits(relative, 0);
        for await (const chunk of chunks) {
          size += chunk.byteLength;
          assertWithinLimits(relative, size);
          yield chunk;
        }
      }
      try {
        const chunks = body ? Readable.fromWeb(body as never) : Readable.from([]);
        await pipeline(chunks, count, createWriteStream(part, { mode: 0o600 }));
        const target = join(root, ...segments);
        await mkdir(dirname(target), { recursive: true, mode: 0o700 });
        await rename(part, target);
        return size;
      } catch (thrown) {
        sizes.delete(relative);
        await rm(part, { force: true });
        throw toUploadError(thrown, relative);
      }
    },
    async list() {
      const names = await readdir(root).catch(() => []);
      return names.toSorted().map((name) => join(root, name));
    },
  };
}

const maxSegments = 32;
const maxNameBytes = 200;

/** Splits a relative path. Throws `invalid_input` if a name could lead elsewhere or exists on no file system. */
function splitPath(path: string): readonly string[] {
  const segments = path.split("/");
  const isPlain = segments.every(
    (name) =>
      name !== "" &&
      name !== "." &&
      name !== ".." &&
      Buffer.byteLength(name) <= maxNameBytes &&
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
      !/[\u0000-\u001f\u007f\\:]/.test(name),
  );
  if (isPlain && segments.length <= maxSegments) return segments;
  const message = `Invalid file path ${JSON.stringify(path.slice(0, 200))}: must be relative, such as "notes/plan.md", without "..", ":" and control characters.`;
  throw new AgentError("invalid_input", message);
}

function toUploadError(thrown: unknown, path: string): unknown {
  const { code } = thrown as NodeJS.ErrnoException;
  if (code === "ENOSPC")
    return new AgentError("store_full", `No space left on the disk for "${path}".`, { cause: thrown });
  if (code === "EISDIR" || code === "ENOTDIR" || code === "ENOTEMPTY" || code === "EEXIST")
    return new AgentError("invalid_input", `"${path}" is both a file and a folder. Rename one of them.`);
  if (code === "ERR_STREAM_PREMATURE_CLOSE" || code === "ECONNRESET")
    return new AgentError("aborted", `The connection closed before "${path}" was complete.`);
  return thrown;
}
