import { AgentError } from "capstan";
import { type Before, readBefore, type WritableWorkspace } from "./change-file.ts";
import { find, inDirectory } from "./directory.ts";
import { shown, systemCode } from "./file-failure.ts";
import { refuseProtected } from "./protected-names.ts";
import type { Root } from "./root.ts";
import { splitLines } from "./unified-diff.ts";
import { wayTo } from "./workspace.ts";

/** Why a person is asked; false for a path that the call is refused for anyway, so that nobody is asked in vain. */
export function reasonToAsk(does: string, path: string, root: Root): string | false {
  try {
    const { folder, name } = wayTo(path, root);
    const names = [...folder, name];
    refuseProtected(root, names);
    return `${does} the file ${shown(names)}.`;
  } catch (error) {
    if (error instanceof AgentError) return false;
    throw error;
  }
}

/** Also whether there is a file that would be lost. Whatever the disk says, a person is asked: it can change until then. */
export async function reasonToWrite(path: string, workspace: WritableWorkspace): Promise<string | false> {
  const { root, allowance } = workspace;
  const plain = reasonToAsk("Writes", path, root);
  if (plain === false) return false;
  const { folder, name } = wayTo(path, root);
  const file = shown([...folder, name]);
  try {
    return await inDirectory(root, folder, async (directory) => {
      const isThere = (await find(directory, name)) !== undefined;
      if (!isThere) return `Makes the file ${file}.`;
      const before = await readBefore(directory, name, allowance.fileBytes);
      return `Replaces the whole file ${file} (${sizeOf(before)}).`;
    });
  } catch (error) {
    // A folder on the way is missing, and would be made with it.
    return systemCode(error) === "ENOENT" ? `Makes the file ${file}.` : plain;
  }
}

function sizeOf({ stats, text }: Before): string {
  if (text === undefined) return `${stats.size} bytes`;
  const count = splitLines(text).length;
  return count === 1 ? "1 line" : `${count} lines`;
}
