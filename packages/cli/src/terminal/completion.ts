import { readdir } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { escapeTerminalLine } from "./escape-terminal.ts";

/** A completion of the word at the cursor. */
export type Candidate = {
  /** Replaces the word. */
  readonly text: string;
  /** Short description. */
  readonly about?: string;
};

/** The word at the cursor and its start. */
export type CompletionTarget = {
  readonly kind: "command" | "file";
  readonly from: number;
  readonly word: string;
};

/** Finds a `/command` at the start, or an `@file` anywhere. */
export function findCompletionTarget(text: string, cursor: number): CompletionTarget | undefined {
  const before = text.slice(0, cursor);
  if (/^\/\S*$/.test(before)) return { kind: "command", from: 0, word: before };
  const file = /(?:^|\s)(@\S*)$/.exec(before)?.[1];
  if (file === undefined) return undefined;
  return { kind: "file", from: cursor - file.length, word: file };
}

const maxCandidates = 50;
const ignoredNames: ReadonlySet<string> = new Set(["node_modules", ".git"]);

/** Lists files inside the folder that start with the word; folders end with a slash. Never leaves the folder. */
export async function listFileCandidates(folder: string, word: string): Promise<readonly Candidate[]> {
  const typed = word.slice(1);
  const inside = typed.endsWith("/") ? typed : `${dirname(typed)}/`;
  const start = typed.endsWith("/") ? "" : basename(typed);
  const searchFolder = resolve(folder, inside);
  if (searchFolder !== resolve(folder) && !searchFolder.startsWith(resolve(folder) + sep)) return [];
  const entries = await readdir(searchFolder, { withFileTypes: true }).catch(() => []);
  const prefix = inside === "./" && !typed.startsWith("./") ? "" : inside;
  return entries
    .filter(({ name }) => name.toLowerCase().startsWith(start.toLowerCase()) && isOffered(name, start))
    .toSorted((a, b) => Number(b.isDirectory()) - Number(a.isDirectory()) || a.name.localeCompare(b.name))
    .slice(0, maxCandidates)
    .map((entry) => ({ text: `@${join(prefix, entry.name)}${entry.isDirectory() ? "/" : ""}` }));
}

/** Excludes names with spaces or invisible characters, and hidden names unless typed. */
function isOffered(name: string, start: string): boolean {
  if (name !== escapeTerminalLine(name) || /\s/.test(name)) return false;
  return start.startsWith(".") || start === name || !(name.startsWith(".") || ignoredNames.has(name));
}
