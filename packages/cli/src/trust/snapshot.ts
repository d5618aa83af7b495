// What a user trusts: a project file and the code that it loads, if its text names that code. These are the local
// scripts that `.mcp.json` starts, and relative imports, followed from module to module. Packages, and paths that are
// computed, are not covered.
import { readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { isRecord } from "capstan";
import { computeSha256 } from "../sha256.ts";

/** A file as it was trusted. The text shows what has changed since; a long file has only its digest. */
export type TrustedFile = { readonly sha256: string; readonly text?: string };

/** The files, by their path from the folder of the project file. */
export type Snapshot = { readonly [path: string]: TrustedFile };

const maxTextLength = 100_000;

/** Reads a project file and the code that it loads. */
export function takeSnapshot(file: string): Snapshot {
  const folder = realpathSync(dirname(file));
  const entry = realpathSync(file);
  const startsServers = basename(file) === ".mcp.json";
  const files = new Map<string, TrustedFile>();
  const visit = (path: string): void => {
    const name = relative(folder, path).replaceAll(sep, "/");
    if (files.has(name)) return;
    const bytes = tryRead(path);
    const text = bytes?.toString() ?? "";
    const sha256 = bytes ? computeSha256(bytes) : "unreadable";
    files.set(name, { sha256, ...(text.length <= maxTextLength && { text }) });
    const loaded = startsServers && path === entry ? listScripts(text, folder) : listImports(text, path);
    for (const next of loaded) visit(next);
  };
  visit(entry);
  return Object.fromEntries(files);
}

/** Returns undefined for a file that cannot be read: loading it reports why. */
function tryRead(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

const isModule = /\.[cm]?[jt]sx?$/;
const isScript = /\.(?:[cm]?[jt]sx?|py|sh|bash|zsh|rb|pl|php|lua|ps1|bat|cmd|jar)$/;

const relativePath = /(\b(?:from|import|require)\b[\s(]*)?["'`](\.{1,2}\/[^"'`\n\\?#]+)[^"'`\n]*["'`]/g;

/** Finds what a module imports by a relative path, and modules whose path it mentions, as for a worker. */
function listImports(text: string, path: string): string[] {
  if (!isModule.test(path)) return [];
  return [...text.matchAll(relativePath)].flatMap(([, importing, name = ""]) => {
    const found = findFile(resolve(dirname(path), name));
    if (found === undefined || found.split(sep).includes("node_modules")) return [];
    return importing !== undefined || isModule.test(found) ? [found] : [];
  });
}

/** Finds the programs and scripts in the folder that MCP servers are started with. */
function listScripts(text: string, folder: string): string[] {
  return parseServers(text).flatMap(({ command, args, cwd }) => {
    const from = resolve(folder, typeof cwd === "string" ? cwd : ".");
    const scripts = (Array.isArray(args) ? args : []).filter((arg) => isScript.test(String(arg)));
    const programs = /[\\/]/.test(String(command)) ? [command] : [];
    return [...programs, ...scripts]
      .map((name) => findFile(resolve(from, String(name))))
      .filter((path) => path !== undefined)
      .filter((path) => path.startsWith(folder + sep));
  });
}

/** Returns nothing for a file that is not valid: starting the servers reports why. */
function parseServers(text: string): readonly Record<string, unknown>[] {
  try {
    const content: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
    const servers = isRecord(content) && isRecord(content.mcpServers) ? content.mcpServers : {};
    return Object.values(servers).filter(isRecord);
  } catch {
    return [];
  }
}

/** Finds the real path of a file, which `require` may name without its extension. */
function findFile(path: string): string | undefined {
  const candidates = [path, `${path}.js`, `${path}.cjs`, join(path, "index.js")];
  const found = candidates.find((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
  return found && realpathSync(found);
}
