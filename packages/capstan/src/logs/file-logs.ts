// Log files, in one folder per session:
//
//   <directory>/<session>/events.jsonl     every fact as a line of JSON, and every delta if `deltas` is set
//   <directory>/<session>/readable.log     the same in short readable lines, without reasoning
//   <directory>/<session>/reasoning.log    the model's reasoning
//
// <session> is the session id with every character except A-Z, a-z, 0-9, _ and - percent-encoded. An id that is longer
// than 80 characters or has capitals, which some file systems do not distinguish, is followed by "." and a hash.
// Files are append-only and readable only by their owner. A folder that is missing while a run writes to it was deleted
// with its session, maybe by another process: it is created again only for a new or resumed run.
import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { AgentError, describeThrown } from "../base/errors.ts";
import type { Event } from "../kernel/event.ts";
import { escapeUnseen } from "../secrets/json-text.ts";
import { jsonLines } from "./json-lines.ts";
import { readableLog } from "./readable-log.ts";
import { reasoningLog } from "./reasoning-log.ts";

export type FileLogsOptions = {
  /** Created if it does not exist. */
  readonly directory: string;
  /** Masked wherever they occur; see `maskSecrets`. */
  readonly secrets?: readonly string[];
  /** Also writes deltas to `events.jsonl`. */
  readonly deltas?: boolean;
  /** Called once for each file that cannot be written, which is then skipped. Default: logs to stderr. */
  onError?(error: Error, file: string): void;
};

/** An `onEvent` hook for any number of runs. File errors never reach the runs. */
export interface FileLogs {
  (event: Event): void;
  /** Resolves when all events so far are in the files. */
  flush(): Promise<void>;
  /**
   * Deletes the folder of a session. A run that is still active writes no more. Rejects with `store_failed` if something
   * remains.
   */
  remove(sessionId: string): Promise<void>;
  /** Like `flush`. Later events are not written. */
  close(): Promise<void>;
}

export function fileLogs({ directory, secrets = [], deltas = false, onError }: FileLogsOptions): FileLogs {
  const root = resolve(directory);
  const files = createFileAppender(onError ?? logToStderr);
  // Sinks write synchronously, so `folder` always belongs to the current event.
  let folder = root;
  const appendTo = (name: string) => (text: string) => files.append(join(folder, name), text);
  const sinks = [
    jsonLines(appendTo("events.jsonl"), { secrets, deltas }),
    readableLog(appendTo("readable.log"), { secrets }),
    reasoningLog(appendTo("reasoning.log"), { secrets }),
  ];
  let closed = false;
  const activeFolders = new Set<string>();
  const sink = (event: Event): void => {
    if (closed) return;
    const { type, parentRunId, sessionId } = event;
    const isRoot = parentRunId === undefined;
    folder = join(root, sessionFolder(sessionId));
    if (!activeFolders.has(folder) || (isRoot && type === "run_start")) files.addFolder(folder);
    activeFolders.add(folder);
    for (const writeEvent of sinks) writeEvent(event);
    if (isRoot && (type === "done" || type === "waiting")) activeFolders.delete(folder);
  };
  const close = (): Promise<void> => {
    closed = true;
    return files.flush();
  };
  const remove = (sessionId: string) => files.removeFolder(join(root, sessionFolder(sessionId)));
  return Object.assign(sink, { flush: files.flush, remove, close });
}

const maxFolderLength = 80;

/** Returns the folder name of a session: safe on every file system and unique. */
export function sessionFolder(sessionId: string): string {
  const encoded = sessionId.replace(/[^A-Za-z0-9_-]/gu, percentEncode);
  // Device names on Windows.
  const safe = encoded.replace(/^(?=(?:con|prn|aux|nul|com\d|lpt\d)$)./i, percentEncode) || "%";
  if (safe.length <= maxFolderLength && !/[A-Z]/.test(sessionId)) return safe;
  const hash = createHash("sha256").update(sessionId, "utf16le").digest("hex").slice(0, 32);
  return `${safe.slice(0, maxFolderLength)}.${hash}`;
}

/** A lone surrogate has no UTF-8 encoding. */
function percentEncode(character: string): string {
  if (!character.isWellFormed()) return `%u${character.charCodeAt(0).toString(16)}`;
  const bytes = [...new TextEncoder().encode(character)];
  return bytes.map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
}

interface FileAppender {
  /** Creates the folder with the next text for a file in it. Without this, text for a missing folder is dropped. */
  addFolder(folder: string): void;
  append(file: string, text: string): void;
  /** Deletes the folder with the text that waits for its files. */
  removeFolder(folder: string): Promise<void>;
  flush(): Promise<void>;
}

/** Queues text per file. Text that arrives during a write is written together in the next batch, in order. */
function createFileAppender(onError: (error: Error, file: string) => void): FileAppender {
  const failedFiles = new Set<string>();
  const newFolders = new Set<string>();
  /** The texts of the next write, by file. */
  let batch: Map<string, string> | undefined;
  let tail: Promise<void> = Promise.resolve();

  function markFailed(file: string, thrown: unknown): void {
    failedFiles.add(file);
    onError(thrown instanceof Error ? thrown : new Error(String(thrown)), file);
  }

  async function write(file: string, text: string): Promise<void> {
    const folder = dirname(file);
    if (newFolders.has(folder)) await mkdir(folder, { recursive: true, mode: 0o700 });
    newFolders.delete(folder);
    await appendLines(file, text).catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code !== "ENOENT") throw thrown;
    });
  }

  async function writeBatch(texts: Map<string, string>): Promise<void> {
    if (batch === texts) batch = undefined;
    for (const [file, text] of texts) {
      if (failedFiles.has(file)) continue;
      const append = write(file, text).catch((thrown) => markFailed(file, thrown));
      // An `onError` callback that throws must not stop the other files.
      await append.catch(() => undefined);
    }
  }

  return {
    addFolder: (folder) => void newFolders.add(folder),
    append(file, text) {
      if (failedFiles.has(file)) return;
      if (!batch) {
        const texts = new Map<string, string>();
        batch = texts;
        tail = tail.then(() => writeBatch(texts));
      }
      batch.set(file, (batch.get(file) ?? "") + text);
    },
    removeFolder(folder) {
      newFolders.delete(folder);
      for (const file of batch?.keys() ?? []) if (dirname(file) === folder) batch?.delete(file);
      batch = undefined; // later texts are written after the removal
      const removal = tail.then(() => deleteFolder(folder));
      tail = removal.catch(() => undefined);
      return removal;
    },
    flush: () => tail,
  };
}

/** Retries while another process writes to the folder. */
async function deleteFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  } catch (cause) {
    const message = `Cannot delete the logs in ${folder}: ${describeThrown(cause, "store_failed").message}`;
    throw new AgentError("store_failed", message, { cause });
  }
}

async function appendLines(file: string, text: string): Promise<void> {
  const handle = await open(file, "a+", 0o600);
  try {
    await handle.appendFile((await endsMidLine(handle)) ? `\n${text}` : text);
  } finally {
    await handle.close();
  }
}

/** A crashed process may have left an incomplete line. */
async function endsMidLine(handle: FileHandle): Promise<boolean> {
  const { size } = await handle.stat();
  if (size === 0) return false;
  const { buffer } = await handle.read({ buffer: Buffer.alloc(1), position: size - 1 });
  return buffer.toString() !== "\n";
}

function logToStderr(error: Error, file: string): void {
  const { message } = describeThrown(error, "store_failed");
  process.stderr.write(`${escapeUnseen(`Cannot write log ${file}: ${message}`)}\n`);
}
