import type { BigIntStats } from "node:fs";
import { lstat } from "node:fs/promises";
import { getSystemCode } from "./file-errors.ts";

/** Like `lstat`, but returns undefined if nothing exists at the path. */
export async function readStats(path: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    const code = getSystemCode(error);
    if (code === "ENOENT" || code === "ENAMETOOLONG") return undefined;
    throw error;
  }
}
