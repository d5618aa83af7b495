// What a user trusts: a project file and the code that it loads. If the text says which code that is, these are the
// modules that it imports, from file to file, and the scripts that `.mcp.json` starts. Otherwise it is every file of the
// folder that may be code, except `.git`, caches and installed packages, and every file that such code mentions.
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, extname, join, relative, sep } from "node:path";
import { computeSha256 } from "../sha256.ts";
import { findImports, findMentions, findServerCode, mayBeCode } from "./find-code.ts";

/** A file as it was trusted. The text shows what has changed since; a long file has only its digest. */
export type TrustedFile = { readonly sha256: string; readonly text?: string };

/** The files, by their path from the folder of the project file. */
export type Snapshot = { readonly [path: string]: TrustedFile };

const maxTextLength = 100_000;
/** Of all files together: the texts are stored. */
const maxTexts = 4_000_000;
/** A folder with more cannot be compared in a short time. */
const maxFiles = 10_000;

/** The entry of a folder that is too large to be compared: no two snapshots with it are equal. */
export const tooLarge = "(more files than can be compared)";

/** Reads a project file and the code that it loads. `dataFolder` is where Capstan itself stores data. */
export function takeSnapshot(file: string, dataFolder?: string): Snapshot {
  const folder = realpathSync(dirname(file));
  const entry = realpathSync(file);
  const startsServers = basename(file) === ".mcp.json";
  const files = new Map<string, TrustedFile>();
  const roots = new Set<string>();
  let textsLeft = maxTexts;

  function visit(path: string, isListed = false): void {
    const name = relative(folder, path).replaceAll(sep, "/");
    if (files.has(name)) return;
    const bytes = tryRead(path);
    const text = bytes?.toString() ?? "";
    // Settings of a package manager contain tokens.
    const hasText = text.length <= Math.min(maxTextLength, textsLeft) && !basename(path).endsWith("rc");
    if (hasText) textsLeft -= text.length;
    files.set(name, { sha256: bytes ? computeSha256(bytes) : "unreadable", ...(hasText && { text }) });
    // What a Makefile or a program mentions may have no type, either.
    if (isListed && extname(path) !== "") return;
    const isServerList = startsServers && path === entry;
    const code = isServerList ? findServerCode(text, folder) : findImports(text, path, folder);
    for (const next of code.files) visit(next);
    if (code.isComplete) return;
    for (const root of [folder, ...(code.folders ?? [])]) roots.add(root);
    const from = isServerList ? folder : dirname(path);
    if (text.length <= maxTextLength) for (const next of findMentions(text, [from, ...roots])) visit(next);
  }
  visit(entry);
  for (const root of [...roots])
    if (existsSync(join(root, "package.json"))) visit(join(root, "package.json"));
  for (const root of roots)
    for (const path of listFolder(root, { skip: dataFolder, limit: maxFiles - files.size }))
      if (path === undefined) files.set(tooLarge, { sha256: crypto.randomUUID() });
      else visit(path, true);
  return Object.fromEntries(files);
}

/** Folders of git, of installed packages and of caches. */
const otherFolders: readonly string[] = [".git", "node_modules", ".venv", "venv", "__pycache__", ".cache"];

type ListOptions = { readonly skip: string | undefined; readonly limit: number };

/** Lists the files that may be code, also behind links. Ends with undefined if there are too many. */
function* listFolder(root: string, { skip, limit }: ListOptions): Generator<string | undefined> {
  const folders = [root];
  const seen = new Set(skip === undefined ? [] : [skip]);
  let left = limit;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const real = tryResolve(folder);
    if (real === undefined || seen.has(real)) continue;
    seen.add(real);
    for (const name of tryList(real)) {
      const path = tryResolve(join(real, name));
      const stats = path === undefined ? undefined : statSync(path);
      if (path === undefined || !stats || otherFolders.includes(name)) continue;
      if (stats.isDirectory()) folders.push(path);
      if (!stats.isFile() || !mayBeCode(path, stats.mode)) continue;
      if (--left < 0) return yield undefined;
      yield path;
    }
  }
}

function tryResolve(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined; // a broken link, or not readable
  }
}

/** Returns nothing for a folder that cannot be read, from which nothing can be loaded. */
function tryList(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Returns undefined for a file that cannot be read: loading it reports why. */
function tryRead(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
