import { setImmediate } from "node:timers/promises";
import { defineTool, escapeInvisible, type Tool, type ToolCall } from "capstan";
import { compileMatcher, type Matcher } from "./compile-matcher.ts";
import { type Directory, withDirectory } from "./directory.ts";
import { isExternal, labelResult } from "./external-files.ts";
import { createArgumentError, quotePath } from "./file-errors.ts";
import { createGlobMatcher, createLineList, joinPath } from "./list-files.ts";
import { type OpenFile, openFile } from "./open-file.ts";
import { parsePath } from "./parse-path.ts";
import { type Line, readLines } from "./read-lines.ts";
import {
  createWalk,
  isSkippableError,
  isTimeUp,
  maxDepth,
  type VisitedEntry,
  type Walk,
  walkDirectory,
} from "./walk.ts";
import { type FileLimits, getMaxResultSize, type Workspace, withFileErrors } from "./workspace.ts";

const maxQueryLength = 1_000;
/** The rest of a longer line is not searched. */
const maxLineBytes = 2_000;
const maxShownLength = 300;
/** Yields to the event loop after this time. */
const maxBlockMs = 20;

/** `search_files`: finds lines that contain a text or match a pattern. */
export type SearchFilesCall = ToolCall<
  "search_files",
  { query: string; regex?: boolean; glob?: string; path?: string }
>;

export function searchFilesTool({ root, limits, reads }: Workspace): Tool<SearchFilesCall, unknown> {
  return defineTool({
    name: "search_files",
    description:
      "Finds lines in text files and gives them as path:line: text. Looks at every line for itself, at its first 2,000 characters.",
    examples: [
      { phrase: "search for {query} in all files" },
      { phrase: "search for {query}" },
      { phrase: "find {query} in the files" },
      { phrase: "which files mention {query}" },
      { phrase: "does any file contain {query}" },
      { phrase: "search for {query} in {file}", input: { glob: "{file}" } },
      { phrase: "find the word {query} in {file}", input: { glob: "{file}" } },
      { phrase: "where is {query} used" },
      { phrase: "search for {query} in {extension} files", input: { glob: "*.{extension}" } },
      { phrase: "search for {query} in the folder {path}" },
      { phrase: "search for {query} in capitals or not", input: { query: "(?i){query}", regex: true } },
    ],
    input: {
      type: "object",
      properties: {
        query: { type: "string", description: "The text to find, in these very letters." },
        regex: {
          type: "boolean",
          description: 'The query is a regular expression (RE2), such as "(?i)todo|fixme".',
        },
        glob: { type: "string", description: 'Only in files like this: "*.ts" or "src/**/*.ts".' },
        path: { type: "string", description: "The folder to search in. Left out: the root." },
      },
      required: ["query"],
      additionalProperties: false,
    },
    effects: "none",
    reads,
    maxResultSize: getMaxResultSize(limits),
    async execute({ query, regex = false, glob, path = "." }, { signal }) {
      const names = parsePath(path, root.spellings);
      const matches = await createQueryMatcher(query, regex);
      const matchesGlob = await createGlobMatcher(glob);
      const walk = createWalk(limits, { depth: maxDepth, signal });
      const list = createLineList(limits.matches, limits.characters);
      const search: Search = { matches, limits, walk, add: list.add, hasExternal: false };
      await withFileErrors(`search ${quotePath(path)}`, () =>
        withDirectory(root, names, async (directory) => {
          for await (const visited of walkDirectory(directory, walk)) {
            if (visited.kind !== "file" || !matchesGlob(joinPath(visited, names.length))) continue;
            if (!(await searchFile(visited, search))) break;
          }
        }),
      );
      return labelResult(list.format(walk, "No matches found."), search.hasExternal);
    },
  });
}

async function createQueryMatcher(query: string, regex: boolean): Promise<Matcher> {
  if (query === "" || query.length > maxQueryLength || /[\n\r]/.test(query))
    throw createArgumentError(
      `A query must have 1 to ${maxQueryLength} characters and no line break: lines are searched one by one.`,
    );
  return regex ? compileMatcher(query) : (text) => text.includes(query);
}

type Search = {
  readonly matches: Matcher;
  readonly limits: FileLimits;
  readonly walk: Walk;
  /** Adds a result line. Returns false if the result is full. */
  add(line: string): boolean;
  /** Whether a match comes from outside. */
  hasExternal: boolean;
};

/** Returns false when the search should stop. Unreadable and binary files are skipped. */
async function searchFile({ directory, name }: VisitedEntry, search: Search): Promise<boolean> {
  const { limits, walk, add } = search;
  const file = await tryOpenFile(directory, name);
  if (!file) return true;
  const path = escapeInvisible([...directory.names, name].join("/").toWellFormed());
  const found: Line[] = [];
  try {
    const reading = { signal: walk.signal, maxBytes: limits.scanBytes, maxLineBytes };
    for await (const batch of readLines(file.handle, reading)) {
      if (batch.type === "binary") return true;
      if (batch.type !== "lines" || found.length > limits.matches) break;
      await searchLines(batch.lines, search, found);
      if (walk.stopReason) break;
    }
  } finally {
    await file.handle.close();
  }
  if (found.length > 0) search.hasExternal ||= await isExternal(directory, name);
  return found.every(({ number, text }) => add(`${path}:${number}: ${formatLine(text)}`)) && !walk.stopReason;
}

async function searchLines(lines: readonly Line[], { matches, walk }: Search, found: Line[]): Promise<void> {
  let pausedAt = performance.now();
  for (const line of lines) {
    if (performance.now() - pausedAt > maxBlockMs) {
      if (isTimeUp(walk)) return;
      await setImmediate();
      pausedAt = performance.now();
    }
    if (matches(line.text)) found.push(line);
  }
  isTimeUp(walk);
}

async function tryOpenFile(directory: Directory, name: string): Promise<OpenFile | undefined> {
  try {
    return await openFile(directory, name);
  } catch (error) {
    if (isSkippableError(error)) return undefined;
    throw error;
  }
}

function formatLine(text: string): string {
  const line = text.trim().replace(/[\r\v\f\u2028\u2029]/g, " ");
  return line.length > maxShownLength ? `${line.slice(0, maxShownLength).toWellFormed()}…` : line;
}
