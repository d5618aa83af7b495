import type { BigIntStats } from "node:fs";
import { stat } from "node:fs/promises";
import { systemCode } from "./file-failure.ts";

/** One text per file, whatever it is called. */
export function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** Of those that exist. */
export async function identitiesOf(paths: readonly string[]): Promise<ReadonlySet<string>> {
  const found = await Promise.all(paths.map(identityAt));
  return new Set(found.filter((identity) => identity !== undefined));
}

async function identityAt(path: string): Promise<string | undefined> {
  try {
    return identityOf(await stat(path, { bigint: true }));
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP") return undefined;
    throw error;
  }
}
