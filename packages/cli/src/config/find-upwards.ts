import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/**
 * The first of these files in the folder, or in the nearest one above it that has one. The user's home folder and what
 * is above it are no projects: they are looked into only when the search begins there.
 */
export function findUpwards(
  names: readonly string[],
  { from, home }: { readonly from: string; readonly home: string },
): string | undefined {
  const start = resolve(from);
  for (let folder = start; ; folder = dirname(folder)) {
    if (folder !== start && folder === resolve(home)) return undefined;
    const found = names.map((name) => join(folder, name)).find((file) => existsSync(file));
    if (found !== undefined || dirname(folder) === folder) return found;
  }
}
