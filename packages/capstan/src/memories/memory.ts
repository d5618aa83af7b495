import { AgentError } from "../base/errors.ts";
import type { Provenance } from "../kernel/provenance.ts";

/** A text that agents keep across sessions, at a path such as `/memories/preferences.md`. */
export type Memory = {
  readonly path: string;
  readonly text: string;
  /** The least trustworthy author of the text. The text of a model counts as written by what the model had read. */
  readonly provenance: Provenance;
  /** Grows with every change, and is not used again when a memory is deleted and written again. */
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/**
 * Whose memories: those of one user, which no other user can reach, and which part of them. `user` is the scope of the
 * user's session ids (see `getScope`), empty for the local user; `scope` is `user`, `agent:<name>` or `project:<name>`.
 */
export type MemoryOwner = { readonly user: string; readonly scope: string };

/** The folder that all paths start with, as Anthropic's memory tool has it. */
export const memoryRoot = "/memories";

export const maxPathLength = 200;
export const maxTextLength = 100_000;
export const maxMemories = 500;
/** Bytes of all memories of one owner as JSON; a record may have 1,000,000. */
export const maxTotalBytes = 900_000;

/** A name in a path: no control or invisible character, no separator of any system, no escape of one. */
const forbiddenCharacters = /[\p{C}\p{Zl}\p{Zp}\\/:%*?"<>|]/u;

/**
 * Returns the path in its one form. Rejects with `invalid_input` what is not below the root: paths are keys of a record,
 * not files, but a path that would leave a folder is refused, whatever reads it later.
 */
export function parseMemoryPath(path: string): string {
  const fail = (problem: string): never => {
    const message = `Invalid memory path ${JSON.stringify(path.slice(0, maxPathLength))}: ${problem}.`;
    throw new AgentError("invalid_input", message);
  };
  if (path.length > maxPathLength) fail(`it has more than ${maxPathLength} characters`);
  const [start, root, ...names] = path.normalize("NFC").replace(/\/$/, "").split("/");
  if (start !== "" || `/${root}` !== memoryRoot) fail(`it must start with ${memoryRoot}/`);
  for (const name of names) {
    if (name.trim() === "" || /^\.+$/.test(name)) fail("it has an empty name, or one of dots only");
    if (forbiddenCharacters.test(name)) fail("it has a character that no name may have");
  }
  return [memoryRoot, ...names].join("/");
}

/** Returns the path of a memory; the root itself is none. */
export function parseFilePath(path: string): string {
  const parsed = parseMemoryPath(path);
  if (parsed !== memoryRoot) return parsed;
  throw new AgentError("invalid_input", `${memoryRoot} is the folder of all memories: add a name.`);
}

/** Whether a path is this one or below it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

const trust: readonly Provenance[] = ["external", "application", "operator", "user"];

/** Returns the less trustworthy of two authors. */
export function pickLessTrusted(left: Provenance, right: Provenance): Provenance {
  return trust.indexOf(left) < trust.indexOf(right) ? left : right;
}

/** Whether reading a memory makes a conversation untrusted: others than the user and the operator have written in it. */
export function isUntrusted({ provenance }: Pick<Memory, "provenance">): boolean {
  return provenance !== "user" && provenance !== "operator";
}
