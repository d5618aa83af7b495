import { defineTool, escapeInvisible, type Tool, type ToolCall } from "capstan";
import { compileMatcher } from "./compile-matcher.ts";
import { withDirectory } from "./directory.ts";
import { isExternal, labelResult } from "./external-files.ts";
import { quotePath } from "./file-errors.ts";
import { translateGlob } from "./glob-to-re2.ts";
import { parsePath } from "./parse-path.ts";
import { createWalk, maxDepth, type VisitedEntry, type Walk, walkDirectory } from "./walk.ts";
import { getMaxResultSize, type Workspace, withFileErrors } from "./workspace.ts";

/** `list_files`: lists the contents of a folder. */
export type ListFilesCall = ToolCall<"list_files", { path?: string; glob?: string; depth?: number }>;

export function listFilesTool({ root, limits, reads }: Workspace): Tool<ListFilesCall, unknown> {
  return defineTool({
    name: "list_files",
    description:
      'Lists files and folders, one path a line, folders with a slash at the end. Links are shown and not followed. What is in "node_modules" is listed only with its path.',
    examples: [
      { phrase: "what files are in the workspace" },
      { phrase: "what files are there" },
      { phrase: "how many files are there" },
      { phrase: "list the files" },
      { phrase: "list the files in {path}" },
      { phrase: "what is in the folder {path}" },
      { phrase: "list all files in all folders", input: { glob: "**" } },
      { phrase: "list all {extension} files", input: { glob: "*.{extension}" } },
      { phrase: "how many {extension} files are there", input: { glob: "*.{extension}" } },
      { phrase: "are there any {extension} files", input: { glob: "*.{extension}" } },
    ],
    input: {
      type: "object",
      properties: {
        path: { type: "string", description: "The folder, relative to the root. Left out: the root." },
        glob: {
          type: "string",
          description: 'Only paths like this, from the folder on: "*.ts" in any folder, or "src/**/*.ts".',
        },
        depth: {
          type: "integer",
          minimum: 1,
          description: "How many folders deep. Left out: 1, or with a glob all.",
        },
      },
      additionalProperties: false,
    },
    effects: "none",
    reads,
    maxResultSize: getMaxResultSize(limits),
    async execute({ path = ".", glob, depth = glob === undefined ? 1 : maxDepth }, { signal }) {
      const names = parsePath(path, root.spellings);
      const matchesGlob = await createGlobMatcher(glob);
      const walk = createWalk(limits, { depth, signal });
      const list = createLineList(limits.entries, limits.characters);
      let hasExternal = false;
      await withFileErrors(`list ${quotePath(path)}`, () =>
        withDirectory(root, names, async (directory) => {
          for await (const visited of walkDirectory(directory, walk)) {
            if (!matchesGlob(joinPath(visited, names.length))) continue;
            if (!list.add(formatEntry(visited))) break;
            hasExternal ||= await isExternal(visited.directory, visited.name);
          }
        }),
      );
      return labelResult(list.format(walk, "No files found."), hasExternal);
    },
  });
}

/** Returns a test for paths. Without a glob it matches every path. */
export async function createGlobMatcher(glob: string | undefined): Promise<(path: string) => boolean> {
  return glob === undefined ? () => true : compileMatcher(translateGlob(glob), glob);
}

/** Joins the path of an entry, without its first `without` names. */
export function joinPath({ directory, name }: VisitedEntry, without = 0): string {
  return [...directory.names, name].slice(without).join("/");
}

// Escaped, so that a name with a line break does not look like two entries.
function formatEntry(visited: VisitedEntry): string {
  const path = escapeInvisible(joinPath(visited).toWellFormed());
  if (visited.kind === "folder") return `${path}/`;
  if (visited.kind === "file") return path;
  return `${path} (${visited.kind === "link" ? "link" : "device, pipe or socket"})`;
}

/** Collects result lines up to a number of lines and characters. */
export function createLineList(
  maxLines: number,
  maxCharacters: number,
): { add(line: string): boolean; format(walk: Walk, emptyText: string): string } {
  const lines: string[] = [];
  let characters = 0;
  let isFull = false;
  return {
    add(line) {
      isFull ||= lines.length >= maxLines || characters + line.length + 1 > maxCharacters;
      if (isFull) return false;
      characters += line.length + 1;
      lines.push(line);
      return true;
    },
    format({ stopReason }, emptyText) {
      const reason = isFull ? "there are more entries" : stopReason;
      const note = reason && `[Incomplete: ${reason}. Narrow the search with a path or a glob.]`;
      if (lines.length === 0) return note ?? emptyText;
      return note ? `${lines.join("\n")}\n\n${note}` : lines.join("\n");
    },
  };
}
