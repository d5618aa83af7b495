import type { BigIntStats } from "node:fs";
import { stat } from "node:fs/promises";
import { getSystemCode } from "./file-errors.ts";

/** Identifies a file independently of its name: device and inode. */
export function getIdentity({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** Returns the identities of the paths that exist. */
export async function readIdentities(paths: readonly string[]): Promise<ReadonlySet<string>> {
  const found = await Promise.all(paths.map(readIdentity));
  return new Set(found.filter((identity) => identity !== undefined));
}

async function readIdentity(path: string): Promise<string | undefined> {
  try {
    return getIdentity(await stat(path, { bigint: true }));
  } catch (error) {
    const code = getSystemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP") return undefined;
    throw error;
  }
}
