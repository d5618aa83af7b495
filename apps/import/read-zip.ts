import { AgentError } from "capstan";
import { type Entry, fromBufferPromise, openPromise, type ZipFile } from "yauzl";

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

/** The path of an archive, or its bytes. */
export type ZipSource = string | Buffer;

/**
 * Unpacks a ZIP archive into memory, by path; folders are left out. Sizes are counted while unpacking, because an
 * archive can lie about them. Archives inside the archive stay packed. Rejects with `file_limit`, or with `file_invalid`
 * for an archive that is damaged, encrypted, or has a path that leaves it.
 */
export async function readZip(
  source: ZipSource,
  options: ReadZipOptions = {},
): Promise<ReadonlyMap<string, Buffer>> {
  const files = new Map<string, Buffer>();
  await visitEntries(source, options, async (path, chunks) => {
    files.set(path, Buffer.concat(await Array.fromAsync(chunks)));
  });
  return files;
}

/** Rejects as `readZip` does, and keeps nothing in memory: for a parser that unpacks without limits. */
export async function checkZip(source: ZipSource, options: ReadZipOptions = {}): Promise<void> {
  await visitEntries(source, options, async (_, chunks) => {
    for await (const _chunk of chunks); // counts the bytes
  });
}

type VisitEntry = (path: string, chunks: AsyncIterable<Buffer>) => Promise<void>;

async function visitEntries(source: ZipSource, options: ReadZipOptions, visit: VisitEntry): Promise<void> {
  const { isWanted = () => true, signal } = options;
  const limits = { ...defaultZipLimits, ...options.limits };
  const archiveName = typeof source === "string" ? `"${source}"` : "It";
  const location = typeof source === "string" ? ` in "${source}"` : "";
  const archive = await withFileError(archiveName, () =>
    typeof source === "string" ? openPromise(source) : fromBufferPromise(source),
  );
  let bytes = 0;
  let entries = 0;
  await withFileError(archiveName, async () => {
    for await (const entry of archive.eachEntry()) {
      signal?.throwIfAborted();
      if (++entries > limits.entries)
        throw new AgentError("file_limit", `${archiveName} has more than ${limits.entries} entries.`);
      if (entry.fileName.endsWith("/") || !isWanted(entry.fileName)) continue;
      const name = `"${entry.fileName}"${location}`;
      const maxBytes = Math.min(limits.bytesPerEntry, limits.bytes - bytes);
      const onBytes = (count: number) => {
        bytes += count;
      };
      const unpack = { name, maxBytes, maxRatio: limits.ratio, signal, onBytes };
      await visit(entry.fileName, unpackEntry(archive, entry, unpack));
    }
  }).finally(() => archive.close());
}

type UnpackOptions = {
  readonly name: string;
  readonly maxBytes: number;
  readonly maxRatio: number;
  readonly signal: AbortSignal | undefined;
  onBytes(count: number): void;
};

async function* unpackEntry(
  archive: ZipFile,
  entry: Entry,
  { name, maxBytes, maxRatio, signal, onBytes }: UnpackOptions,
): AsyncGenerator<Buffer> {
  if (!entry.canDecodeFileData())
    throw new AgentError(
      "file_invalid",
      `${name} is encrypted or packed with a method that is not supported.`,
    );
  const stream = await archive.openReadStreamPromise(entry);
  let bytes = 0;
  try {
    for await (const chunk of stream) {
      signal?.throwIfAborted();
      bytes += chunk.length;
      if (bytes > maxBytes)
        throw new AgentError("file_limit", `${name} unpacks to more than ${maxBytes} bytes.`);
      if (bytes > minRatioBytes && bytes > entry.compressedSize * maxRatio)
        throw new AgentError("file_limit", `${name} unpacks to more than ${maxRatio} times its size.`);
      onBytes(chunk.length);
      yield chunk;
    }
  } finally {
    stream.destroy();
  }
}

/** Errors of the library describe a damaged archive; ours, aborts and errors of the file system stay as they are. */
async function withFileError<Result>(name: string, action: () => Promise<Result>): Promise<Result> {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof Error) || error.name === "AbortError" || "syscall" in error) throw error;
    if (error instanceof AgentError) throw error;
    throw new AgentError("file_invalid", `${name} is not a readable ZIP archive: ${error.message}`, {
      cause: error,
    });
  }
}
