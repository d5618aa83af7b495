// Logs in files, a folder for each session:
//
//   <directory>/<session>/events.jsonl     every fact, and with `deltas` every delta, as one line of JSON each
//   <directory>/<session>/readable.log     the same in short lines for people, without reasoning
//   <directory>/<session>/reasoning.log    what the model thought
//
// <session> is the session's id with every character but A-Z, a-z, 0-9, _ and - percent-encoded. An id with capitals,
// which some file systems do not tell from small letters, or longer than 80 characters, is followed by "." and a hash.
// Files are only ever appended to; only their owner may read them.
import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { describeThrown } from "../errors.ts";
import type { Event } from "../event.ts";
import { escapeUnseen } from "../secrets/json-text.ts";
import { jsonLines } from "./json-lines.ts";
import { readableLog } from "./readable-log.ts";
import { reasoningLog } from "./reasoning-log.ts";

export type FileLogsOptions = {
  /** Made when it does not exist. */
  readonly directory: string;
  /** Masked wherever they occur, see `maskSecrets`. */
  readonly secrets?: readonly string[];
  /** Whether deltas are written to `events.jsonl` too. */
  readonly deltas?: boolean;
  /** Told once for each file that cannot be written, which is then left alone. By default a line on standard error. */
  onError?(error: Error, file: string): void;
};

/** A sink for `hooks.onEvent`, of any number of runs. What goes wrong with a file never reaches them. */
export interface FileLogs {
  (event: Event): void;
  /** Resolves when everything said so far is in the files. */
  flush(): Promise<void>;
  /** As `flush`; what is said later is not written. */
  close(): Promise<void>;
}

export function fileLogs({ directory, secrets = [], deltas = false, onError }: FileLogsOptions): FileLogs {
  const root = resolve(directory);
  const files = createFileAppender(onError ?? logToStderr);
  // Sinks write while they are called, so the session of the event is that of the line.
  let folder = root;
  const appendTo = (name: string) => (text: string) => files.append(join(folder, name), text);
  const sinks = [
    jsonLines(appendTo("events.jsonl"), { secrets, deltas }),
    readableLog(appendTo("readable.log"), { secrets }),
    reasoningLog(appendTo("reasoning.log"), { secrets }),
  ];
  let closed = false;
  const sink = (event: Event): void => {
    if (closed) return;
    folder = join(root, sessionFolder(event.sessionId));
    for (const writeEvent of sinks) writeEvent(event);
  };
  const close = (): Promise<void> => {
    closed = true;
    return files.flush();
  };
  return Object.assign(sink, { flush: files.flush, close });
}

const maxFolderLength = 80;

/** The name of a session's folder: safe on every file system, and never that of another session. */
export function sessionFolder(sessionId: string): string {
  const encoded = sessionId.replace(/[^A-Za-z0-9_-]/gu, percentEncode);
  // Names that stand for devices on Windows.
  const safe = encoded.replace(/^(?=(?:con|prn|aux|nul|com\d|lpt\d)$)./i, percentEncode) || "%";
  if (safe.length <= maxFolderLength && !/[A-Z]/.test(sessionId)) return safe;
  const hash = createHash("sha256").update(sessionId, "utf16le").digest("hex").slice(0, 32);
  return `${safe.slice(0, maxFolderLength)}.${hash}`;
}

/** Half a surrogate pair has no bytes of its own. */
function percentEncode(character: string): string {
  if (!character.isWellFormed()) return `%u${character.charCodeAt(0).toString(16)}`;
  const bytes = [...new TextEncoder().encode(character)];
  return bytes.map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
}

interface FileAppender {
  append(file: string, text: string): void;
  flush(): Promise<void>;
}

/** What is appended while files are written goes into them together, in order, the next time. */
function createFileAppender(onError: (error: Error, file: string) => void): FileAppender {
  const failedFiles = new Set<string>();
  let pending = new Map<string, string[]>();
  let tail: Promise<void> = Promise.resolve();

  function markFailed(file: string, thrown: unknown): void {
    failedFiles.add(file);
    onError(thrown instanceof Error ? thrown : new Error(String(thrown)), file);
  }

  async function writePending(): Promise<void> {
    const batch = [...pending].filter(([file]) => !failedFiles.has(file));
    pending = new Map();
    for (const [file, texts] of batch) {
      const append = appendLines(file, texts.join("")).catch((thrown) => markFailed(file, thrown));
      // A listener to errors that throws has nobody left to tell, and the other files go on.
      await append.catch(() => undefined);
    }
  }

  return {
    append(file, text) {
      if (failedFiles.has(file)) return;
      if (pending.size === 0) tail = tail.then(writePending);
      const texts = pending.get(file) ?? [];
      texts.push(text);
      pending.set(file, texts);
    },
    flush: () => tail,
  };
}

async function appendLines(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const handle = await open(file, "a+", 0o600);
  try {
    await handle.appendFile((await endsMidLine(handle)) ? `\n${text}` : text);
  } finally {
    await handle.close();
  }
}

/** A process that died while it wrote may have left half a line, which must not spoil the next one. */
async function endsMidLine(handle: FileHandle): Promise<boolean> {
  const { size } = await handle.stat();
  if (size === 0) return false;
  const { buffer } = await handle.read({ buffer: Buffer.alloc(1), position: size - 1 });
  return buffer.toString() !== "\n";
}

function logToStderr(error: Error, file: string): void {
  const { message } = describeThrown(error, "store_failed");
  process.stderr.write(`${escapeUnseen(`The log ${file} cannot be written: ${message}`)}\n`);
}
