// Paths are byte strings here: one character per byte (Latin-1). A name that is not valid UTF-8 keeps its bytes, so that
// it cannot hide what is below it.
import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";

export function toBytes(path: string): string {
  return Buffer.from(path).toString("latin1");
}

export function fromBytes(bytes: string): Buffer {
  return Buffer.from(bytes, "latin1");
}

/** For names and messages. Bytes that are not UTF-8 become U+FFFD. */
export function decodeBytes(bytes: string): string {
  return fromBytes(bytes).toString();
}

export type TreeVisitor = {
  /** Returns the folders to visit next. */
  visit(folder: string, entries: readonly Dirent[]): Promise<readonly string[]> | readonly string[];
  /** Handles a folder that cannot be read. With `true`, the walk reads it once more. */
  onError(folder: string, code: string | undefined): Promise<boolean> | boolean;
};

/** Visits a folder and those below it, without following links. */
export async function walkTree(folder: string, visitor: TreeVisitor): Promise<void> {
  const entries = (await readFolder(folder, visitor)) ?? [];
  const folders = await visitor.visit(folder, entries);
  await Promise.all(folders.map((inner) => walkTree(inner, visitor)));
}

async function readFolder(folder: string, visitor: TreeVisitor): Promise<readonly Dirent[] | undefined> {
  const read = () => readdir(fromBytes(folder), { withFileTypes: true, encoding: "latin1" });
  try {
    return await read();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return (await visitor.onError(folder, code)) ? read() : undefined;
  }
}
