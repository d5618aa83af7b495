import type { BigIntStats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { AgentError, type ToolContext, type ToolReturn, type UiHint } from "capstan";
import { type Directory, findEntry, openPath, withDirectory } from "./directory.ts";
import { createArgumentError, getSystemCode, quotePath } from "./file-errors.ts";
import { openFile } from "./open-file.ts";
import { assertNotProtected } from "./protected-paths.ts";
import type { QuotaTracker } from "./quota.ts";
import { readStats } from "./read-stats.ts";
import { replaceInDirectory } from "./replace-in-directory.ts";
import { createUnifiedDiff } from "./unified-diff.ts";
import { parseFilePath, type Workspace, withFileErrors } from "./workspace.ts";

/** A file before the change. `text` is undefined if the file is too large or not UTF-8 text. */
export type FileBefore = { readonly stats: BigIntStats; readonly text: string | undefined };

/** A workspace whose files can be written, one at a time. */
export type WritableWorkspace = Workspace & {
  readonly quota: QuotaTracker;
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
  const { quota, seen } = workspace;
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
  await replaceInDirectory(directory, { name, content, previous: before?.stats });
  quota.record(runId, spending);
  const after = await readStats(directory.at(name));
  if (after) seen.recordChange(file, { before: before?.stats, after });
  return formatChange(path, before, text);
}

/** Returns the diff of a change for the user, or undefined if the change is not possible now. */
export async function previewChange(
  { root, quota, seen }: WritableWorkspace,
  { path, call, create, getContent }: ProposedChange,
): Promise<UiHint | undefined> {
  const { folder, name } = parseFilePath(path, root);
  const names = [...folder, name].join("/");
  const preview = (before: FileBefore | undefined) => {
    const { ui } = formatChange(names, before, getContent(before));
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
    return { stats, text: stats.size > maxBytes ? undefined : await readText(handle, maxBytes) };
  } finally {
    await handle.close();
  }
}

/** Returns undefined if the content is not UTF-8 text or has grown beyond `maxBytes`. */
async function readText(handle: FileHandle, maxBytes: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for (;;) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(65_536), 0, 65_536, size);
    if (bytesRead === 0) break;
    size += bytesRead;
    if (size > maxBytes) return undefined;
    chunks.push(buffer.subarray(0, bytesRead));
  }
  const bytes = Buffer.concat(chunks);
  if (bytes.includes(0)) return undefined;
  try {
    // Keeps a byte order mark.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined; // another encoding, or binary
  }
}

/** The model gets line counts and the user gets the diff, so that a write does not reveal the old content to the model. */
function formatChange(path: string, before: FileBefore | undefined, getContent: string): ToolReturn {
  const wasBinary = before !== undefined && before.text === undefined;
  const diff = wasBinary ? undefined : createUnifiedDiff(path, before?.text, getContent);
  const summary = diff ? `lines: ${diff.added} added, ${diff.removed} removed` : "was not a text file";
  const isSame = before !== undefined && diff?.text === "";
  const content = isSame
    ? `${quotePath(path)} is unchanged.`
    : `${before ? "Changed" : "Created"} ${quotePath(path)} (${summary}).`;
  const text = diff?.text ?? `Binary file a/${path} replaced by text\n`;
  return { content, ui: { kind: "diff", props: { path, diff: text } } };
}
