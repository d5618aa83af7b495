import type { Reads } from "capstan";
import { AgentError } from "capstan";
import { createArgumentError, quotePath, toFileError } from "./file-errors.ts";
import { parsePath } from "./parse-path.ts";
import type { Root } from "./root.ts";
import type { SeenFiles } from "./seen-files.ts";

/** Limits for one call. */
export type FileLimits = {
  /** Max lines per `read_file`. */
  readonly lines: number;
  /** Max characters per result. */
  readonly characters: number;
  /** Max bytes read of one file, from its start. */
  readonly scanBytes: number;
  /** Max entries per `list_files`. */
  readonly entries: number;
  /** Max lines per `search_files`. */
  readonly matches: number;
  /** Max directory entries visited. */
  readonly visits: number;
  /** Time limit of a listing or search. */
  readonly timeMs: number;
};

export const defaultLimits: FileLimits = {
  lines: 2_000,
  characters: 30_000,
  scanBytes: 50_000_000,
  entries: 1_000,
  matches: 200,
  visits: 100_000,
  timeMs: 10_000,
};

/** Shared by all file tools of one root. */
export type Workspace = {
  readonly root: Root;
  readonly limits: FileLimits;
  /** Labels of all content read here. Results from single external files have their own, see `labelResult`. */
  readonly reads: readonly Reads[];
  readonly seen: SeenFiles;
};

/** Leaves room for notes around a result, so that it is not truncated a second time. */
export function getMaxResultSize({ characters }: FileLimits): number {
  return characters + 2_000;
}

/** Splits a file path into its folder's names and its own name. */
export function parseFilePath(
  path: string,
  root: Root,
): { readonly folder: readonly string[]; readonly name: string } {
  const names = parsePath(path, root.spellings);
  const name = names.at(-1);
  if (name === undefined) throw createArgumentError(`${quotePath(path)} is the root folder, not a file.`);
  return { folder: names.slice(0, -1), name };
}

/** Runs an action and converts system errors to readable messages. `operation` completes "Cannot …". */
export async function withFileErrors<Value>(operation: string, action: () => Promise<Value>): Promise<Value> {
  try {
    return await action();
  } catch (error) {
    throw toFileError(error, operation);
  }
}

/** Throws for unknown or non-numeric fields: a misspelled limit would have no effect. */
export function assertNumbers(owner: string, values: object, defaults: object): void {
  for (const [name, value] of Object.entries(values)) {
    if (!Object.hasOwn(defaults, name)) {
      const message = `Unknown field "${name}" in ${owner}. Fields: ${Object.keys(defaults).join(", ")}.`;
      throw new AgentError("invalid_definition", message);
    }
    if (typeof value !== "number" || !(value >= 0)) {
      const message = `"${name}" in ${owner} must be a number, not ${JSON.stringify(value)}.`;
      throw new AgentError("invalid_definition", message);
    }
  }
}
