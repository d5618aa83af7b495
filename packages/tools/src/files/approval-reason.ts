import { AgentError, type Approval, type UiHint } from "capstan";
import { type FileBefore, readBefore, type WritableWorkspace } from "./change-file.ts";
import { findEntry, withDirectory } from "./directory.ts";
import { getSystemCode, quoteNames } from "./file-errors.ts";
import { assertNotProtected } from "./protected-paths.ts";
import type { Root } from "./root.ts";
import { splitLines } from "./unified-diff.ts";
import { parseFilePath } from "./workspace.ts";

/** One sentence: what the call does, and why it waits. */
function withReason(change: string): string {
  return `${change}: files are changed only with your approval.`;
}

/** Returns the reason for an approval request, or false if the call will be refused anyway. */
export function getApprovalReason(action: string, path: string, root: Root): string | false {
  try {
    const { folder, name } = parseFilePath(path, root);
    const names = [...folder, name];
    assertNotProtected(root, names);
    return withReason(`${action} the file ${quoteNames(names)}`);
  } catch (error) {
    if (error instanceof AgentError) return false;
    throw error;
  }
}

/** Like `getApprovalReason`, and distinguishes new files from replaced ones. Always asks: the disk can change before the call runs. */
export async function getWriteApprovalReason(
  path: string,
  workspace: WritableWorkspace,
): Promise<string | false> {
  const { root, quota, history } = workspace;
  const basicReason = getApprovalReason("Writes", path, root);
  if (basicReason === false) return false;
  const { folder, name } = parseFilePath(path, root);
  const file = quoteNames([...folder, name]);
  try {
    return await withDirectory(root, folder, async (directory) => {
      const isThere = (await findEntry(directory, name)) !== undefined;
      if (!isThere) return withReason(`Creates the file ${file}`);
      const before = await readBefore(directory, name, quota.fileBytes);
      const note = history && !before.bytes ? ", which is too large to be undone" : "";
      return withReason(`Replaces the whole file ${file} (${describeSize(before)}${note})`);
    });
  } catch (error) {
    // A parent folder is missing and would be created too.
    return getSystemCode(error) === "ENOENT" ? withReason(`Creates the file ${file}`) : basicReason;
  }
}

function describeSize({ stats, text }: FileBefore): string {
  if (text === undefined) return `${stats.size} bytes`;
  const count = splitLines(text).length;
  return count === 1 ? "1 line" : `${count} lines`;
}

/** Adds what the call would change. */
export async function withPreview(
  reason: string | false,
  preview: () => Promise<UiHint | undefined>,
): Promise<Approval> {
  const ui = reason === false ? undefined : await preview();
  return reason !== false && ui ? { reason, ui } : reason;
}
