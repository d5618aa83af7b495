import { AgentError } from "capstan";
import { type Entry, openPromise, type ZipFile } from "yauzl";

export type ZipLimits = {
  readonly entries: number;
  /** Unpacked size of one entry. */
  readonly bytesPerEntry: number;
  /** Unpacked size of all wanted entries. */
  readonly bytes: number;
  /** Unpacked size divided by packed size, for entries above 1 MB. Real files rarely reach 50; a bomb reaches 1,000. */
  readonly ratio: number;
};

export type ReadZipOptions = {
  readonly limits?: Partial<ZipLimits>;
  /** Entries to unpack, by path. Defaults to all. */
  readonly isWanted?: (path: string) => boolean;
  readonly signal?: AbortSignal;
};

export const defaultZipLimits: ZipLimits = {
  entries: 10_000,
  bytesPerEntry: 100_000_000,
  bytes: 250_000_000,
  ratio: 200,
};

const minRatioBytes = 1_000_000;

/**
 * Unpacks a ZIP archive into memory, by path; folders are left out. Sizes are counted while unpacking, because an
 * archive can lie about them. Archives inside the archive stay packed. Rejects with `file_limit`, or with `file_invalid`
 * for an archive that is damaged, encrypted, or has a path that leaves it.
 */
export async function readZip(
  path: string,
  options: ReadZipOptions = {},
): Promise<ReadonlyMap<string, Buffer>> {
  const { isWanted = () => true, signal } = options;
  const limits = { ...defaultZipLimits, ...options.limits };
  const files = new Map<string, Buffer>();
  const archive = await withFileError(path, () => openPromise(path));
  let bytes = 0;
  let entries = 0;
  await withFileError(path, async () => {
    for await (const entry of archive.eachEntry()) {
      signal?.throwIfAborted();
      if (++entries > limits.entries)
        throw new AgentError("file_limit", `"${path}" has more than ${limits.entries} entries.`);
      if (entry.fileName.endsWith("/") || !isWanted(entry.fileName)) continue;
      const name = `"${entry.fileName}" in "${path}"`;
      const maxBytes = Math.min(limits.bytesPerEntry, limits.bytes - bytes);
      const content = await unpackEntry(archive, entry, { name, maxBytes, maxRatio: limits.ratio, signal });
      bytes += content.length;
      files.set(entry.fileName, content);
    }
  }).finally(() => archive.close());
  return files;
}

type UnpackOptions = {
  readonly name: string;
  readonly maxBytes: number;
  readonly maxRatio: number;
  readonly signal: AbortSignal | undefined;
};

async function unpackEntry(
  archive: ZipFile,
  entry: Entry,
  { name, maxBytes, maxRatio, signal }: UnpackOptions,
): Promise<Buffer> {
  if (!entry.canDecodeFileData())
    throw new AgentError(
      "file_invalid",
      `${name} is encrypted or packed with a method that is not supported.`,
    );
  const stream = await archive.openReadStreamPromise(entry);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream) {
      signal?.throwIfAborted();
      bytes += chunk.length;
      if (bytes > maxBytes)
        throw new AgentError("file_limit", `${name} unpacks to more than ${maxBytes} bytes.`);
      if (bytes > minRatioBytes && bytes > entry.compressedSize * maxRatio)
        throw new AgentError("file_limit", `${name} unpacks to more than ${maxRatio} times its size.`);
      chunks.push(chunk);
    }
  } finally {
    stream.destroy();
  }
  return Buffer.concat(chunks);
}

/** Errors of the library describe a damaged archive; ours, aborts and errors of the file system stay as they are. */
async function withFileError<Result>(path: string, action: () => Promise<Result>): Promise<Result> {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof Error) || error.name === "AbortError" || "syscall" in error) throw error;
    if (error instanceof AgentError) throw error;
    throw new AgentError("file_invalid", `"${path}" is not a readable ZIP archive: ${error.message}`, {
      cause: error,
    });
  }
}
