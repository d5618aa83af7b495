// Downloads a large file: into `FILE.part`, next to `FILE.part.json` with the address and the version (ETag) of what is
// there. A connection that breaks is continued where it ended, also by a later command; a file that has changed on the
// server is started over. The file gets its name when its checksum is right.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { AgentError, isRecord } from "capstan";
import { openDownload } from "./open-download.ts";

export type DownloadOptions = {
  readonly url: string;
  readonly file: string;
  /** The expected checksum. Default: the one that the server sends, as Hugging Face does. */
  readonly sha256?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: (progress: Progress) => void;
  readonly fetch?: typeof fetch;
  /** The wait before the first retry; it doubles. Default: 1000. */
  readonly retryMs?: number;
  /** A connection without data for this long counts as broken. Default: 60,000. */
  readonly idleMs?: number;
};

export type Progress = { readonly bytes: number; readonly total?: number | undefined };

export type Download = {
  readonly bytes: number;
  readonly sha256: string;
  /** False if neither the caller nor the server knew a checksum. */
  readonly isVerified: boolean;
};

/** Failures in a row without a new byte. */
const maxAttempts = 5;

/** Downloads a file. Rejects with `model_file_invalid` if its checksum is wrong, and keeps what it has if it cannot finish. */
export async function downloadFile(options: DownloadOptions): Promise<Download> {
  const { file, signal, retryMs = 1000 } = options;
  const part = `${file}.part`;
  let linkedSha256: string | undefined;
  for (let attempt = 1; ; attempt++) {
    const before = await readSize(part);
    const outcome = await transfer(options, part).catch((error: unknown) => toFailure(error, signal));
    if (outcome.type === "done") {
      linkedSha256 = outcome.sha256;
      break;
    }
    if (outcome.isFinal) throw outcome.error;
    if ((await readSize(part)) > before) attempt = 1;
    if (attempt >= maxAttempts) throw outcome.error;
    await wait(retryMs * 2 ** (attempt - 1), signal);
  }
  return finish(part, file, { given: options.sha256, linked: linkedSha256 });
}

type Outcome =
  | { readonly type: "done"; readonly sha256?: string | undefined }
  | { readonly type: "failed"; readonly error: unknown; readonly isFinal: boolean };

function toFailure(error: unknown, signal: AbortSignal | undefined): Outcome {
  const isFinal = signal?.aborted === true || (error instanceof AgentError && !error.retryable);
  return { type: "failed", error, isFinal };
}

/** One connection. Resolves when the file is complete, and rejects if the connection ends before. */
async function transfer(options: DownloadOptions, part: string): Promise<Outcome> {
  const { url, signal, onProgress, idleMs = 60_000 } = options;
  const idle = createIdleSignal(idleMs, signal);
  try {
    const size = await readSize(part);
    const version = await readVersion(part, url);
    const from = size > 0 && version !== undefined ? { offset: size, version } : undefined;
    const opened = await openDownload({ url, from, fetch: options.fetch ?? fetch, signal: idle.signal });
    const { offset, total, etag, sha256 } = opened;
    await writeFile(`${part}.json`, JSON.stringify({ url, etag }));
    const handle = await open(part, offset > 0 ? "r+" : "w");
    let bytes = offset;
    try {
      onProgress?.({ bytes, total });
      for await (const chunk of opened.body) {
        idle.reset();
        await handle.write(chunk, 0, chunk.length, bytes);
        bytes += chunk.length;
        onProgress?.({ bytes, total });
      }
    } catch (cause) {
      signal?.throwIfAborted();
      throw createBrokenError(url, { bytes, total }, cause);
    } finally {
      await handle.close();
    }
    if (total !== undefined && bytes < total) throw createBrokenError(url, { bytes, total });
    return { type: "done", sha256 };
  } finally {
    idle.dispose();
  }
}

function createBrokenError(url: string, { bytes, total }: Progress, cause?: unknown): AgentError {
  const share = total === undefined ? "" : ` of ${total}`;
  const message = `The download of ${url} broke off at ${bytes}${share} bytes. Run the command again to continue.`;
  return new AgentError("model_unreachable", message, { cause });
}

async function finish(
  part: string,
  file: string,
  checksums: { readonly given?: string | undefined; readonly linked?: string | undefined },
): Promise<Download> {
  const sha256 = await hashFile(part);
  const expected = (checksums.given ?? checksums.linked)?.toLowerCase();
  if (expected !== undefined && expected !== sha256) {
    await removePart(part);
    const message = `The checksum of the download is ${sha256}, expected ${expected}. The file was removed. Run the command again.`;
    throw new AgentError("model_file_invalid", message);
  }
  const bytes = await readSize(part);
  await rename(part, file);
  await removePart(part);
  return { bytes, sha256, isVerified: expected !== undefined };
}

async function removePart(part: string): Promise<void> {
  await rm(part, { force: true });
  await rm(`${part}.json`, { force: true });
}

async function hashFile(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

const readSize = async (file: string): Promise<number> =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  );

/** Returns the version of the partial file, if it is of this address and can be continued. */
async function readVersion(part: string, url: string): Promise<string | undefined> {
  try {
    const saved: unknown = JSON.parse(await readFile(`${part}.json`, "utf8"));
    return isRecord(saved) && saved.url === url && typeof saved.etag === "string" ? saved.etag : undefined;
  } catch {
    return undefined; // nothing was downloaded yet
  }
}

function createIdleSignal(idleMs: number, signal: AbortSignal | undefined) {
  const controller = new AbortController();
  const expire = () => controller.abort(new Error(`The server sent nothing for ${idleMs / 1000} seconds.`));
  let timer = setTimeout(expire, idleMs);
  return {
    signal: signal ? AbortSignal.any([signal, controller.signal]) : controller.signal,
    reset() {
      clearTimeout(timer);
      timer = setTimeout(expire, idleMs);
    },
    dispose: () => clearTimeout(timer),
  };
}

async function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { setTimeout: sleep } = await import("node:timers/promises");
  await sleep(ms, undefined, { signal });
}
