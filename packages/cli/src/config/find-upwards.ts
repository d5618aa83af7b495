import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/**
 * Finds the first of these files in the folder or its nearest ancestor. Searches the home folder and its ancestors only
 * when the search starts there, because they are not projects.
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
