import { defineTool, escapeInvisible, type Tool } from "capstan";
import { inDirectory } from "./directory.ts";
import { quoted } from "./file-failure.ts";
import { parsePath } from "./file-path.ts";
import { globToRe2 } from "./glob-pattern.ts";
import { linearMatcher } from "./linear-matcher.ts";
import { mostDepth, newWalk, type Visited, type Walk, walkIn } from "./walk.ts";
import { attempt, resultSize, type Workspace } from "./workspace.ts";

/** `list_files`: what a folder holds. */
export function listFilesTool({ root, limits, reads }: Workspace): Tool {
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
    maxResultSize: resultSize(limits),
    async execute({ path = ".", glob, depth = glob === undefined ? 1 : mostDepth }, { signal }) {
      const names = parsePath(path, root.spellings);
      const isMeant = await globMatcher(glob);
      const walk = newWalk(limits, { depth, signal });
      const list = linesWithin(limits.entries, limits.characters);
      await attempt(`list ${quoted(path)}`, () =>
        inDirectory(root, names, async (directory) => {
          for await (const visited of walkIn(directory, walk)) {
            if (!isMeant(pathOf(visited, names.length))) continue;
            if (!list.add(shownEntry(visited))) break;
          }
        }),
      );
      return list.inWords(walk, "Nothing is there.");
    },
  });
}

/** Whether a path is one that the glob means; without a glob all are. */
export async function globMatcher(glob: string | undefined): Promise<(path: string) => boolean> {
  return glob === undefined ? () => true : linearMatcher(globToRe2(glob), glob);
}

/** The path of what is visited, without its first names. */
export function pathOf({ directory, name }: Visited, without = 0): string {
  return [...directory.names, name].slice(without).join("/");
}

// A name with a line end in it must not look like two.
function shownEntry(visited: Visited): string {
  const path = escapeInvisible(pathOf(visited).toWellFormed());
  if (visited.kind === "folder") return `${path}/`;
  if (visited.kind === "file") return path;
  return `${path} (${visited.kind === "link" ? "link" : "device, pipe or socket"})`;
}

/** The lines of a result, up to so many and so much. */
export function linesWithin(
  mostLines: number,
  mostCharacters: number,
): { add(line: string): boolean; inWords(walk: Walk, nothing: string): string } {
  const lines: string[] = [];
  let characters = 0;
  let isFull = false;
  return {
    add(line) {
      isFull ||= lines.length >= mostLines || characters + line.length + 1 > mostCharacters;
      if (isFull) return false;
      characters += line.length + 1;
      lines.push(line);
      return true;
    },
    inWords({ stopped }, nothing) {
      const why = isFull ? "there are more" : stopped;
      const note = why && `[Not all: ${why}. Narrow it down with a path or a glob.]`;
      if (lines.length === 0) return note ?? nothing;
      return note ? `${lines.join("\n")}\n\n${note}` : lines.join("\n");
    },
  };
}
