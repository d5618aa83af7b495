import { AgentError } from "capstan";
import { isUntrusted, isWithin, type Memory, type MemoryInfo } from "capstan/memories";
import { wrapUntrusted } from "../web/wrap-untrusted.ts";
import { labelResult, type MemoryResult } from "./memory-result.ts";

/** Formats a memory, or some of its lines, with line numbers. */
export function formatMemory(memory: Memory, range: readonly number[] | undefined): MemoryResult {
  const { path, text } = memory;
  const lines = text.replace(/\n$/, "").split("\n");
  const [first = 1, last = -1] = range ?? [];
  const end = last === -1 ? lines.length : last;
  if (!(first >= 1 && first <= lines.length && end >= first)) {
    const message = `Invalid view_range [${first}, ${last}]: ${path} has ${lines.length} lines.`;
    throw new AgentError("invalid_input", message);
  }
  const numbered = lines
    .slice(first - 1, end)
    .map((line, index) => `${String(first + index).padStart(6)}\t${line}`)
    .join("\n");
  const shown = isUntrusted(memory) ? wrapUntrusted(numbered, {}) : numbered;
  return labelResult(`Here's the content of ${path} with line numbers:\n${shown}`, [memory]);
}

const maxDepth = 2;

/** Lists the memories and folders below a folder, up to two levels deep, with their sizes. */
export function formatFolder(folder: string, memories: readonly Memory[]): MemoryResult {
  const inside = memories.filter(({ path }) => isWithin(path, folder));
  const sizes = new Map<string, number>([[folder, 0]]);
  for (const { path, text } of inside)
    for (const shown of listParents(path, folder)) sizes.set(shown, (sizes.get(shown) ?? 0) + text.length);
  const lines = [...sizes]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([path, size]) => `${formatCharacters(size)}\t${path}`);
  const listing = lines.join("\n");
  const shown = inside.some(isUntrusted) ? wrapUntrusted(listing, {}) : listing;
  return labelResult(
    `Here are the files and directories up to ${maxDepth} levels deep in ${folder}:\n${shown}`,
    inside,
  );
}

/** Lists a path and its folders, from the given folder down to the deepest level that is shown. */
function listParents(path: string, folder: string): string[] {
  const names = path
    .slice(folder.length + 1)
    .split("/")
    .slice(0, maxDepth);
  return [folder, ...names.map((_, index) => [folder, ...names.slice(0, index + 1)].join("/"))];
}

function formatCharacters(characters: number): string {
  return characters < 1_000 ? String(characters) : `${(characters / 1_000).toFixed(1)}K`;
}

/** Formats memories that a search has found: their paths, with a part of each text. */
export function formatFound(found: readonly MemoryInfo[]): MemoryResult {
  if (found.length === 0) return labelResult("Nothing about this is remembered.", []);
  const content = found
    .map((info) => {
      const line = `${info.path}: ${info.excerpt}`;
      return isUntrusted(info) ? wrapUntrusted(line, {}) : line;
    })
    .join("\n");
  return labelResult(content, found);
}
