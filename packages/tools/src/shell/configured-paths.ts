import { readFile, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { isWithin } from "../files/parse-path.ts";
import { isRepositoryName } from "./repositories.ts";
import { fromBytes } from "./walk-tree.ts";

const pathSetting = /\b(?:hookspath|path)\s*=\s*(.+)/gi;
const programSetting =
  /\b(?:fsmonitor|clean|smudge|process|textconv|command|external|pager|editor)\s*=\s*(.+)/gi;

/**
 * Returns the paths below a root from which git takes hooks, programs or further settings, because the configuration of a
 * repository in the roots, or of one that contains them, says so: `core.hooksPath = .husky`, `include.path = ../.gitconfig`.
 * Paths are byte paths, and need not exist.
 */
export async function findConfiguredPaths(
  repositories: readonly string[],
  roots: readonly string[],
): Promise<readonly string[]> {
  const above = roots.flatMap(listAncestors).map((folder) => join(folder, ".git"));
  const paths = await Promise.all([...new Set([...repositories, ...above])].map(readSettings));
  const isBelowRoot = (path: string) => roots.some((root) => path !== root && isWithin(path, root));
  return [...new Set(paths.flat())].filter(isBelowRoot);
}

function listAncestors(folder: string): readonly string[] {
  return folder === "/" ? [] : [dirname(folder), ...listAncestors(dirname(folder))];
}

/** The configuration is the user's own: a command cannot have written it. */
async function readSettings(repository: string): Promise<readonly string[]> {
  const tree = isRepositoryName(basename(repository)) ? dirname(repository) : repository;
  const [, link] = /^gitdir: (.+)/.exec(await tryRead(repository)) ?? [];
  const folder = link === undefined ? repository : resolve(tree, link);
  const common = resolve(folder, (await tryRead(join(folder, "commondir"))).trim());
  const found: string[] = [];
  for (const file of [join(common, "config"), join(folder, "config.worktree")]) {
    const text = await tryRead(file);
    for (const [, value = ""] of text.matchAll(pathSetting)) {
      // Husky's hooks are in `.husky/_`, and execute the files next to that folder.
      const path = value
        .trim()
        .replace(/^"(.*)"$/, "$1")
        .replace(/\/_\/?$/, "");
      // An included file is relative to its configuration, and hooks are relative to the working tree.
      found.push(resolve(dirname(file), path), resolve(tree, path));
    }
    for (const [, value = ""] of text.matchAll(programSetting)) {
      const words = value.split(/[\s"'\\;|&<>()]+/).filter((word) => word !== "");
      for (const path of words.map((word) => resolve(tree, word))) if (await isFile(path)) found.push(path);
    }
  }
  return found;
}

/** Returns an empty text for a file that does not exist, or is a folder. */
function tryRead(path: string): Promise<string> {
  return readFile(fromBytes(path), "latin1").catch(() => "");
}

function isFile(path: string): Promise<boolean> {
  return stat(fromBytes(path)).then(
    (info) => info.isFile(),
    () => false,
  );
}
