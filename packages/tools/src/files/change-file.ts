import type { BigIntStats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { AgentError, type ToolContext, type ToolReturn, type UiHint } from "capstan";
import type { ChangeHistory } from "./change-history.ts";
import { type Directory, findEntry, openPath, withDirectory } from "./directory.ts";
import { createArgumentError, getSystemCode, quotePath } from "./file-errors.ts";
import { formatChange } from "./format-change.ts";
import { openFile } from "./open-file.ts";
import { assertNotProtected } from "./protected-paths.ts";
import type { QuotaTracker } from "./quota.ts";
import { readStats } from "./read-stats.ts";
import { replaceInDirectory } from "./replace-in-directory.ts";
import type { Root } from "./root.ts";
import { parseFilePath, type Workspace, withFileErrors } from "./workspace.ts";

/** A file before the change. */
export type FileBefore = {
  readonly stats: BigIntStats;
  /** Undefined if the file is too large. */
  readonly bytes: Uint8Array | undefined;
  /** Undefined if the file is too large or not UTF-8 text. */
  readonly text: string | undefined;
};

/** A workspace whose files can be written, one at a time. */
export type WritableWorkspace = Workspace & {
  readonly quota: QuotaTracker;
  /** Keeps earlier contents, if changes can be undone. */
  readonly history?: ChangeHistory | undefined;
  /** Serializes read-modify-write operations. */
  queue<Value>(action: () => Promise<Value>): Promise<Value>;
};

/** A change that needs the user's approval. */
export type ProposedChange = {
  readonly path: string;
  /** The arguments of the call, as text. */
  readonly call: string;
  /** Whether to create a missing file and its missing parent folders. */
  readonly create: boolean;
  /** Returns the new content. If it throws, the file stays unchanged. */
  getContent(before: FileBefore | undefined): string;
};

export type FileChange = ProposedChange & {
  readonly context: Pick<ToolContext, "runId" | "sessionId" | "signal">;
};

/** Replaces the content of one file, or leaves it unchanged on failure. */
export function changeFile(workspace: WritableWorkspace, change: FileChange): Promise<ToolReturn> {
  const { root, quota } = workspace;
  const { runId, signal } = change.context;
  const { folder, name } = parseFilePath(change.path, root);
  assertNotProtected(root, [...folder, name]);
  return workspace.queue(() =>
    withFileErrors(`write ${quotePath(change.path)}`, async () => {
      // The run may have ended while this change was queued.
      signal.throwIfAborted();
      const makeFolder = (): void => {
        // Two: the folder and the file that follows.
        quota.checkRun(runId, { bytes: 0, files: 2 });
        quota.record(runId, { bytes: 0, files: 1 });
      };
      const directory = await openPath(root, folder, change.create ? makeFolder : undefined);
      try {
        return await changeInDirectory(directory, name, { ...change, workspace });
      } finally {
        await directory.handle.close();
      }
    }),
  );
}

async function changeInDirectory(
  directory: Directory,
  name: string,
  { workspace, context, create, call, getContent }: FileChange & { readonly workspace: WritableWorkspace },
): Promise<ToolReturn> {
  const { quota, seen, history } = workspace;
  const { runId, sessionId, signal } = context;
  const isNew = (await findEntry(directory, name)) === undefined;
  const before = isNew && create ? undefined : await readBefore(directory, name, quota.fileBytes);
  const path = [...directory.names, name].join("/");
  const file = { sessionId, path, call };
  seen.assertUnchanged(file, before?.stats);
  const text = getContent(before);
  if (!text.isWellFormed()) throw createArgumentError("The new content contains an unpaired surrogate.");
  const content = Buffer.from(text);
  const spending = { bytes: content.length, files: before ? 0 : 1 };
  await quota.check(runId, spending);
  signal.throwIfAborted();
  const canUndo = await withHistory(history, { path, before, after: content }, () =>
    replaceInDirectory(directory, { name, content, previous: before?.stats }),
  );
  quota.record(runId, spending);
  const after = await readStats(directory.at(name));
  seen.recordChange(file, { before: before?.stats, after });
  return formatChange({ path, before, content: text, canUndo });
}

type RecordedChange = {
  readonly path: string;
  readonly before: FileBefore | undefined;
  readonly after: Uint8Array;
};

/** Keeps the earlier content before it is replaced. Returns false if the change cannot be undone. */
async function withHistory(
  history: ChangeHistory | undefined,
  { path, before, after }: RecordedChange,
  replace: () => Promise<void>,
): Promise<boolean> {
  const isUnchanged = before?.bytes && Buffer.compare(before.bytes, after) === 0;
  if (!history || isUnchanged || (before && !before.bytes)) {
    await replace();
    return false;
  }
  const change = await history.record({ path, before: before?.bytes, after });
  try {
    await replace();
  } catch (error) {
    await history.remove(change);
    throw error;
  }
  return true;
}

/** Returns the diff of a change for the user, or undefined if the change is not possible now. */
export async function previewChange(
  { root, quota, seen }: WritableWorkspace,
  { path, call, create, getContent }: ProposedChange,
): Promise<UiHint | undefined> {
  const { folder, name } = parseFilePath(path, root);
  const names = [...folder, name].join("/");
  const preview = (before: FileBefore | undefined) => {
    const { ui } = formatChange({ path: names, before, content: getContent(before) });
    seen.recordShown(call, names, before?.stats);
    return ui;
  };
  try {
    return await withDirectory(root, folder, async (directory) => {
      const isNew = create && (await findEntry(directory, name)) === undefined;
      return preview(isNew ? undefined : await readBefore(directory, name, quota.fileBytes));
    });
  } catch (error) {
    // A missing parent folder is created too.
    if (create && getSystemCode(error) === "ENOENT") return preview(undefined);
    // The disk can change before the call runs, which then reports the error.
    if (error instanceof AgentError || getSystemCode(error) !== undefined) return undefined;
    throw error;
  }
}

/** Throws if the entry is not a regular file. */
export async function readBefore(directory: Directory, name: string, maxBytes: number): Promise<FileBefore> {
  const { handle, stats } = await openFile(directory, name);
  try {
    const bytes = stats.size > maxBytes ? undefined : await readBytes(handle, maxBytes);
    return { stats, bytes, text: bytes && decodeFileText(bytes) };
  } finally {
    await handle.close();
  }
}

/** Like `readBefore` for a path below the root. Returns undefined if the file does not exist. */
export async function readIfPresent(
  root: Root,
  names: readonly string[],
  maxBytes: number,
): Promise<FileBefore | undefined> {
  const name = names.at(-1) ?? "";
  try {
    return await withDirectory(root, names.slice(0, -1), async (directory) =>
      (await findEntry(directory, name)) ? readBefore(directory, name, maxBytes) : undefined,
    );
  } catch (error) {
    if (getSystemCode(error) === "ENOENT") return undefined; // its folder
    throw error;
  }
}

/** Returns undefined if the content has grown beyond `maxBytes`. */
async function readBytes(handle: FileHandle, maxBytes: number): Promise<Uint8Array | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for (;;) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(65_536), 0, 65_536, size);
    if (bytesRead === 0) break;
    size += bytesRead;
    if (size > maxBytes) return undefined;
    chunks.push(buffer.subarray(0, bytesRead));
  }
  return Buffer.concat(chunks);
}

/** Returns undefined if the content is not UTF-8 text. */
export function decodeFileText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    // Keeps a byte order mark.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined; // another encoding, or binary
  }
}
