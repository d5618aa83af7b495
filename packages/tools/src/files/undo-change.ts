import { defineTool, type Tool, type ToolCall, type ToolContext, type ToolReturn } from "capstan";
import { decodeFileText, type FileBefore, readIfPresent, type WritableWorkspace } from "./change-file.ts";
import { type ChangeHistory, hashContent, type StoredChange } from "./change-history.ts";
import { withDirectory } from "./directory.ts";
import { createArgumentError, quotePath } from "./file-errors.ts";
import { createDiffHint } from "./format-change.ts";
import { assertNotProtected } from "./protected-paths.ts";
import { readStats } from "./read-stats.ts";
import { removeFromDirectory, replaceInDirectory } from "./replace-in-directory.ts";
import { createUnifiedDiff } from "./unified-diff.ts";
import { parseFilePath, withFileErrors } from "./workspace.ts";

/** `undo_change`: restores a file as it was before the last change. */
export type UndoChangeCall = ToolCall<"undo_change", { path?: string }>;

type UndoWorkspace = WritableWorkspace & { readonly history: ChangeHistory };

export function undoChangeTool(workspace: UndoWorkspace): Tool<UndoChangeCall, unknown> {
  return defineTool({
    name: "undo_change",
    description:
      "Undoes what write_file or edit_file did last in this folder, or last to one file: restores the earlier content, and removes a file that was new. Call it again to go further back.",
    examples: [
      { phrase: "undo" },
      { phrase: "undo that" },
      { phrase: "undo the last edit" },
      { phrase: "undo the change to {path}" },
      { phrase: "revert {path}" },
      { phrase: "restore {path}" },
    ],
    input: {
      type: "object",
      properties: {
        path: { type: "string", description: "Left out: the file that was changed last." },
      },
      additionalProperties: false,
    },
    effects: "state",
    reads: ["private"],
    target: ({ path }) => path,
    // A call that cannot be executed is refused at once, without a question to the user.
    async needsApproval({ path }) {
      const undo = await withFileErrors("undo the change", () => findUndo(workspace, path));
      const { change, current } = undo;
      workspace.seen.recordShown(toCallText(path), change.path, current.stats);
      const action = change.isNew ? "removes the file, which was new" : "restores the earlier content";
      const reason = `Undoes the last change to the file ${quotePath(change.path)} and ${action}: files are changed only with your approval.`;
      const { ui } = formatUndo(undo);
      return ui ? { reason, ui } : reason;
    },
    execute: ({ path }, context) =>
      workspace.queue(() =>
        withFileErrors("undo the change", () => {
          context.signal.throwIfAborted();
          return undoChange(workspace, path, context);
        }),
      ),
  });
}

const toCallText = (path: string | undefined) => JSON.stringify(["undo_change", path]);

async function undoChange(
  workspace: UndoWorkspace,
  path: string | undefined,
  { runId, sessionId }: Pick<ToolContext, "runId" | "sessionId">,
): Promise<ToolReturn> {
  const { root, seen, quota, history } = workspace;
  const undo = await findUndo(workspace, path);
  const { change, current, earlier } = undo;
  const call = toCallText(path);
  seen.assertAsShown(call, change.path, current.stats);
  const spending = { bytes: earlier?.length ?? 0, files: 0 };
  await quota.check(runId, spending);
  const { folder, name } = parseFilePath(change.path, root);
  const after = await withDirectory(root, folder, async (directory) => {
    const previous = current.stats;
    if (earlier) await replaceInDirectory(directory, { name, content: earlier, previous });
    else await removeFromDirectory(directory, { name, previous });
    return readStats(directory.at(name));
  });
  await history.remove(change);
  quota.record(runId, spending);
  seen.recordChange({ sessionId, path: change.path, call }, { before: current.stats, after });
  return formatUndo(undo);
}

type Undo = {
  readonly change: StoredChange;
  /** The file as the change has left it. */
  readonly current: FileBefore;
  /** Undefined if the file was new. */
  readonly earlier: Uint8Array | undefined;
};

/** Finds the last change that is not undone yet. Throws if there is none, or if the file has changed since. */
async function findUndo(workspace: UndoWorkspace, path: string | undefined): Promise<Undo> {
  const { root, quota, history } = workspace;
  const wantedPath = path === undefined ? undefined : parseNames(workspace, path).join("/");
  for await (const change of history.list()) {
    if (wantedPath !== undefined && change.path !== wantedPath) continue;
    const current = await readIfPresent(root, parseNames(workspace, change.path), quota.fileBytes);
    const earlier = await history.readBefore(change);
    // A crash can leave a change that was not made, or a change that is already undone.
    if (hasContent(current, earlier)) continue;
    if (!current?.bytes || hashContent(current.bytes) !== change.hash) {
      const message = `${quotePath(change.path)} has changed since its last change here, or was removed. Nothing was undone, so that no newer content is lost.`;
      throw createArgumentError(message);
    }
    return { change, current, earlier };
  }
  const place = wantedPath === undefined ? "in this folder" : `to ${quotePath(wantedPath)}`;
  throw createArgumentError(`No change ${place} can be undone.`);
}

function hasContent(file: FileBefore | undefined, content: Uint8Array | undefined): boolean {
  if (!file || !content) return file === content;
  return file.bytes !== undefined && Buffer.compare(file.bytes, content) === 0;
}

function parseNames({ root }: UndoWorkspace, path: string): readonly string[] {
  const { folder, name } = parseFilePath(path, root);
  assertNotProtected(root, [...folder, name]);
  return [...folder, name];
}

function formatUndo({ change: { path }, current, earlier }: Undo): ToolReturn {
  const earlierText = earlier && decodeFileText(earlier);
  const isText = current.text !== undefined && (earlierText !== undefined || !earlier);
  const diff = isText
    ? createUnifiedDiff(path, current.text, earlierText).text
    : `Binary file b/${path} restored\n`;
  const content = earlier
    ? `Restored ${quotePath(path)} as it was before the last change.`
    : `Removed ${quotePath(path)}, which was new.`;
  return { content, ui: createDiffHint(path, diff) };
}
