// What a user trusts: a project file and the code that it loads, as far as its text names that code. These are the local
// scripts that `.mcp.json` starts, and relative imports, followed from module to module. Packages, and paths that are
// computed, are not covered.
import { createHash } from "node:crypto";
import { readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { isRecord } from "capstan";

/** A file as it was trusted. The text shows what has changed since; a long file has only its digest. */
export type TrustedFile = { readonly sha256: string; readonly text?: string };

/** The files, by their path from the folder of the project file. */
export type Snapshot = { readonly [path: string]: TrustedFile };

const maxTextLength = 100_000;

/** Reads a project file and the code that it loads. */
export function takeSnapshot(file: string): Snapshot {
  const folder = realpathSync(dirname(file));
  const files = new Map<string, TrustedFile>();
  const visit = (path: string): void => {
    const name = relative(folder, path).replaceAll(sep, "/");
    if (files.has(name)) return;
    const bytes = tryRead(path);
    const text = bytes?.toString() ?? "";
    const sha256 = bytes ? createHash("sha256").update(bytes).digest("hex") : "unreadable";
    files.set(name, { sha256, ...(text.length <= maxTextLength && { text }) });
    for (const loaded of listLoadedFiles(path, text)) visit(loaded);
  };
  visit(realpathSync(file));
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

function listLoadedFiles(path: string, text: string): readonly string[] {
  const folder = dirname(path);
  if (basename(path) === ".mcp.json") return listScripts(text, folder);
  return isModule.test(path) ? listImports(text, folder) : [];
}

const isModule = /\.[cm]?[jt]sx?$/;
const isScript = /\.(?:[cm]?[jt]sx?|py|sh|bash|zsh|rb|pl|php|lua|ps1|bat|cmd|jar)$/;

/** Finds the modules whose relative path is in quotation marks: imports, `import()`, `require`, workers. */
function listImports(text: string, folder: string): string[] {
  return [...text.matchAll(/["'`](\.{1,2}\/[^"'`\n\\]+)["'`]/g)]
    .map(([, name = ""]) => findFile(resolve(folder, name.replace(/[?#].*/, ""))))
    .filter((path) => path !== undefined)
    .filter((path) => isModule.test(path) && !path.split(sep).includes("node_modules"));
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
