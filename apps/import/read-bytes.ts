import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename } from "node:path";
import { AgentError } from "capstan";

export type ReadBytesOptions = {
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Reads a whole file into memory. Rejects with `file_limit` if it has more bytes, also if it grows while it is read, and
 * with `file_invalid` for anything that is no file.
 */
export async function readBytes(path: string, { maxBytes, signal }: ReadBytesOptions): Promise<Buffer> {
  signal?.throwIfAborted();
  const limitError = new AgentError(
    "file_limit",
    `"${basename(path)}" is larger than ${maxBytes / 1_000_000} MB.`,
  );
  const file = await openFile(path);
  try {
    if ((await file.stat()).size > maxBytes) throw limitError;
    // One byte more than the limit tells whether there is more.
    const stream = file.createReadStream({ end: maxBytes, autoClose: false, ...(signal && { signal }) });
    const bytes = Buffer.concat(await Array.fromAsync<Buffer>(stream));
    if (bytes.length > maxBytes) throw limitError;
    return bytes;
  } finally {
    await file.close();
  }
}

/** Opens a file for reading. Rejects with `file_invalid` for a folder, a pipe, a socket or a device. */
export async function openFile(path: string): Promise<FileHandle> {
  // Opening a pipe would otherwise wait for its writer, perhaps forever.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new AgentError("file_invalid", `"${basename(path)}" is not a regular file.`);
}
