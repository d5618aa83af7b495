import type { Reads } from "capstan";
import { AgentError } from "capstan";
import { badArguments, fileFailure, quoted } from "./file-failure.ts";
import { parsePath } from "./file-path.ts";
import type { Root } from "./root.ts";

/** How much one call reads, shows and waits. */
export type FileLimits = {
  /** Lines that `read_file` gives at once. */
  readonly lines: number;
  /** Characters of a result. */
  readonly characters: number;
  /** Bytes of one file that are read, from its beginning. */
  readonly scanBytes: number;
  /** Names that `list_files` gives. */
  readonly entries: number;
  /** Lines that `search_files` gives. */
  readonly matches: number;
  /** Names that are looked at on the way. */
  readonly visits: number;
  /** How long a listing or a search looks. */
  readonly timeMs: number;
};

/** Enough to work with, and little enough for a model to read. */
export const defaultLimits: FileLimits = {
  lines: 2_000,
  characters: 30_000,
  scanBytes: 50_000_000,
  entries: 1_000,
  matches: 200,
  visits: 100_000,
  timeMs: 10_000,
};

/** What all file tools of one root share. */
export type Workspace = {
  readonly root: Root;
  readonly limits: FileLimits;
  /** What reading here brings into a conversation. */
  readonly reads: readonly Reads[];
};

/** Room for the notes around a result, so that what is within our limits is not cut again. */
export function resultSize({ characters }: FileLimits): number {
  return characters + 2_000;
}

/** The way to a file: the folder's names and its own. */
export function wayTo(
  path: string,
  root: Root,
): { readonly folder: readonly string[]; readonly name: string } {
  const names = parsePath(path, root.spellings);
  const name = names.at(-1);
  if (name === undefined) throw badArguments(`${quoted(path)} is the root folder, not a file.`);
  return { folder: names.slice(0, -1), name };
}

/** Does it, and says in words what the system says in codes. */
export async function attempt<Value>(doing: string, action: () => Promise<Value>): Promise<Value> {
  try {
    return await action();
  } catch (error) {
    throw fileFailure(error, doing);
  }
}

/** Refuses limits that are no numbers, or not known: a misspelt one would silently do nothing. */
export function checkNumbers(owner: string, given: object, known: object): void {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(known, name)) {
      const message = `Unknown field "${name}" of ${owner}. The fields are ${Object.keys(known).join(", ")}.`;
      throw new AgentError("invalid_definition", message);
    }
    if (typeof value !== "number" || !(value >= 0)) {
      const message = `"${name}" of ${owner} must be a number, not ${JSON.stringify(value)}.`;
      throw new AgentError("invalid_definition", message);
    }
  }
}
