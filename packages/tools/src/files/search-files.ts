import { setImmediate } from "node:timers/promises";
import { defineTool, escapeInvisible, type Tool } from "capstan";
import { type Directory, inDirectory } from "./directory.ts";
import { badArguments, quoted } from "./file-failure.ts";
import { parsePath } from "./file-path.ts";
import { type Line, readLines } from "./line-reader.ts";
import { linearMatcher, type Matches } from "./linear-matcher.ts";
import { globMatcher, linesWithin, pathOf } from "./list-files.ts";
import { type OpenFile, openFile } from "./open-file.ts";
import { isLate, isPassable, mostDepth, newWalk, type Visited, type Walk, walkIn } from "./walk.ts";
import { attempt, type FileLimits, resultSize, type Workspace } from "./workspace.ts";

const longestQuery = 1_000;
/** Of a line; the rest is not looked at. */
const longestLine = 2_000;
const longestShown = 300;
/** Others want to use the process too. */
const longestBlockMs = 20;

/** `search_files`: lines that hold a text or match a pattern. */
export function searchFilesTool({ root, limits, reads }: Workspace): Tool {
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
    maxResultSize: resultSize(limits),
    async execute({ query, regex = false, glob, path = "." }, { signal }) {
      const names = parsePath(path, root.spellings);
      const matches = await queryMatcher(query, regex);
      const isMeant = await globMatcher(glob);
      const walk = newWalk(limits, { depth: mostDepth, signal });
      const list = linesWithin(limits.matches, limits.characters);
      const search: Search = { matches, limits, walk, add: list.add };
      await attempt(`search ${quoted(path)}`, () =>
        inDirectory(root, names, async (directory) => {
          for await (const visited of walkIn(directory, walk)) {
            if (visited.kind !== "file" || !isMeant(pathOf(visited, names.length))) continue;
            if (!(await searchFile(visited, search))) break;
          }
        }),
      );
      return list.inWords(walk, "No line was found.");
    },
  });
}

async function queryMatcher(query: string, regex: boolean): Promise<Matches> {
  if (query === "" || query.length > longestQuery || /[\n\r]/.test(query))
    throw badArguments(
      `A query has 1 to ${longestQuery} characters and no line end: lines are searched one by one.`,
    );
  return regex ? linearMatcher(query) : (text) => text.includes(query);
}

type Search = {
  readonly matches: Matches;
  readonly limits: FileLimits;
  readonly walk: Walk;
  /** Takes a line of the result; false when there is no room left. */
  add(line: string): boolean;
};

/** Whether there is room and time for more. A file that cannot be read is passed by, and so is one that is no text. */
async function searchFile({ directory, name }: Visited, search: Search): Promise<boolean> {
  const { limits, walk, add } = search;
  const file = await openQuietly(directory, name);
  if (!file) return true;
  const path = escapeInvisible([...directory.names, name].join("/").toWellFormed());
  const found: Line[] = [];
  try {
    const reading = { signal: walk.signal, mostBytes: limits.scanBytes, longestLine };
    for await (const batch of readLines(file.handle, reading)) {
      if (batch.type === "binary") return true;
      if (batch.type !== "lines" || found.length > limits.matches) break;
      await searchLines(batch.lines, search, found);
      if (walk.stopped) break;
    }
  } finally {
    await file.handle.close();
  }
  return found.every(({ number, text }) => add(`${path}:${number}: ${shownLine(text)}`)) && !walk.stopped;
}

async function searchLines(lines: readonly Line[], { matches, walk }: Search, found: Line[]): Promise<void> {
  let pausedAt = performance.now();
  for (const line of lines) {
    if (performance.now() - pausedAt > longestBlockMs) {
      if (isLate(walk)) return;
      await setImmediate();
      pausedAt = performance.now();
    }
    if (matches(line.text)) found.push(line);
  }
  isLate(walk);
}

async function openQuietly(directory: Directory, name: string): Promise<OpenFile | undefined> {
  try {
    return await openFile(directory, name);
  } catch (error) {
    if (isPassable(error)) return undefined;
    throw error;
  }
}

function shownLine(text: string): string {
  const line = text.trim().replace(/[\r\v\f\u2028\u2029]/g, " ");
  return line.length > longestShown ? `${line.slice(0, longestShown).toWellFormed()}…` : line;
}
