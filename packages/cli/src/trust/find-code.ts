// Finds the code that a project file loads, from its text. What the text does not say is never guessed: `isComplete` is
// then false, and the whole folder counts.
import { readFileSync, realpathSync, statSync } from "node:fs";
import { findPackageJSON, isBuiltin } from "node:module";
import { basename, dirname, extname, join, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isRecord } from "capstan";

/** Files that a text names, and whether it can load others, too. */
export type NamedCode = {
  readonly files: readonly string[];
  /** Folders in which programs are started. */
  readonly folders?: readonly string[];
  readonly isComplete: boolean;
};

const isModule = /\.[cm]?[jt]sx?$/;
const isScript = /\.(?:[cm]?[jt]sx?|py|sh|bash|zsh|rb|pl|php|lua|ps1|bat|cmd|jar)$/;

const staticImport = /\b(?:import|export)\b[\s\w$*{},]*?\bfrom\s*(["'])([^"'\\\n]*)\1/g;
const bareImport = /\bimport\s*(["'])([^"'\\\n]*)\1/g;
const loadCall = /\b(?:import|require)\s*\(\s*(["'])([^"'\\\n]*)\1\s*[,)]/g;
const relativePath = /["'`](\.{1,2}\/[^"'`\n\\?#]+)[^"'`\n]*["'`]/g;

/** Words of code that can load a file whose name is computed, or start a program. */
const loaderWord = new RegExp(
  [
    ...[String.raw`\b(?:import|require|createRequire|eval|Function|globalThis|mcpServers|Worker|fork)\b`],
    ...[String.raw`\b(?:spawn|exec)(?:File)?(?:Sync)?\s*\(`, String.raw`\b(?:__dirname|__filename)\b`],
    ...[String.raw`\bprocess\s*(?:\[|\.\s*(?:cwd|dlopen|\w*Module)\b)`],
    ...[`["'](?:node:)?(?:child_process|worker_threads|vm|module|cluster)["']`],
    ...[String.raw`\bcommand["']?\s*:`, String.raw`\bfile:`, String.raw`\\(?:u|x)`],
  ].join("|"),
);

/** Finds what a module imports, and modules whose relative path it mentions. */
export function findImports(text: string, path: string, folder: string): NamedCode {
  if (!isModule.test(path)) return { files: [], isComplete: isData(path) };
  const names: string[] = [];
  const rest = [staticImport, bareImport, loadCall].reduce(
    (left, pattern) =>
      left.replace(pattern, (_, _quote, name: string) => {
        names.push(name);
        return `"${name}"`;
      }),
    text,
  );
  const resolved = names.map((name) => resolveName(name, path, folder));
  const mentioned = [...text.matchAll(relativePath)].flatMap(([, name = ""]) => {
    const found = findFile(resolve(dirname(path), name));
    return found !== undefined && isModule.test(found) ? [found] : [];
  });
  return {
    files: [...resolved.flatMap(({ files }) => files), ...mentioned].filter(isOutsidePackages),
    isComplete: resolved.every(({ isComplete }) => isComplete) && !loaderWord.test(rest),
  };
}

const isOutsidePackages = (path: string): boolean => !path.split(sep).includes("node_modules");

/** Resolves the name of an import as a URL, as modules do, and as a path, as `require` does. */
function resolveName(name: string, path: string, folder: string): NamedCode {
  if (/^(?:\.{0,2}\/|\.{1,2}$|file:)/.test(name)) {
    const candidates = [toPath(name, path), resolve(dirname(path), name)];
    const files = candidates.flatMap((file) => (file === undefined ? [] : (findFile(file) ?? [])));
    return { files, isComplete: true };
  }
  return { files: [], isComplete: isBuiltin(name) || isForeignPackage(name, path, folder) };
}

function toPath(name: string, path: string): string | undefined {
  const url = URL.parse(name, pathToFileURL(path).href);
  try {
    return url?.protocol === "file:" ? fileURLToPath(url) : undefined;
  } catch {
    return undefined; // no path of this machine
  }
}

/** Whether a name is an installed package: neither `#name`, nor a package of the project itself, nor another kind of URL. */
function isForeignPackage(name: string, path: string, folder: string): boolean {
  if (/^(?:#|[a-z][a-z\d+.-]*:)/i.test(name)) return false;
  try {
    const found = findPackageJSON(name, pathToFileURL(path));
    if (found === undefined || !isOutsidePackages(realpathSync(found))) return true;
    const place = dirname(realpathSync(found)) + sep;
    return !place.startsWith(folder + sep) && !path.startsWith(place);
  } catch {
    return true; // it is not installed
  }
}

/** Programs that run packages and images, not files of the project. */
const packageRunners: readonly string[] = ["npx", "bunx", "uvx", "pipx", "docker", "podman"];

/** Finds the files that the MCP servers of a `.mcp.json` are started with. */
export function findServerCode(text: string, folder: string): NamedCode {
  const servers = parseServers(text).filter(({ command }) => typeof command === "string");
  const found = servers.map((server) => findCommandCode(server, folder));
  return {
    files: found.flatMap(({ files }) => files),
    folders: found.flatMap(({ folders = [] }) => folders),
    isComplete: found.every(({ isComplete }) => isComplete),
  };
}

function findCommandCode({ command, args, cwd, env }: Record<string, unknown>, folder: string): NamedCode {
  const from = resolve(folder, typeof cwd === "string" ? cwd : ".");
  const words = (Array.isArray(args) ? args : []).map(String);
  const program = basename(String(command)).replace(/\.(?:exe|cmd)$/i, "");
  const named = [...(/[\\/]/.test(String(command)) ? [String(command)] : []), ...words];
  const files = named.flatMap((name) => findServerFile(name, from, folder));
  const isModuleOnly = program === "node" && words[0] !== undefined && isModule.test(words[0]);
  const isPackage = packageRunners.includes(program) && !words.some((word) => isLocalWord(word, from));
  const isKnown = (isModuleOnly && files.length > 0) || isPackage;
  return { files, folders: [from], isComplete: isKnown && !hasLoader(env, from) };
}

/** Whether an argument of a package runner leads to the project: to its files or package, or to commands of a shell. */
function isLocalWord(word: string, from: string): boolean {
  if (/^(?:compose|-c|--call(?:=.*)?)$|\$\{/.test(word)) return true;
  const paths = [word, ...word.split(/[=:,]/)].filter((path) => path !== "");
  if (paths.some((path) => statSync(resolve(from, path), { throwIfNoEntry: false }))) return true;
  return listOwnPrograms(from).includes(word.replace(/(?<=.)@.*$/, ""));
}

/** Lists the names by which the package of a folder can be run. */
function listOwnPrograms(from: string): readonly string[] {
  try {
    const { name, bin }: Record<string, unknown> = JSON.parse(
      readFileSync(join(from, "package.json"), "utf8"),
    );
    return [name, ...(isRecord(bin) ? Object.keys(bin) : [])].filter((one) => typeof one === "string");
  } catch {
    return []; // none, or not valid
  }
}

const loaderVariable = /^(?:PATH|ENV|BASH_ENV|(?:NODE|LD|DYLD|PYTHON|PERL|RUBY|JAVA|npm_config)_?.*)$/i;

/** Whether the environment of a program can make it load other code. */
function hasLoader(env: unknown, from: string): boolean {
  if (!isRecord(env)) return env !== undefined;
  return Object.entries(env).some(
    ([name, value]) => loaderVariable.test(name) || findFile(resolve(from, String(value))) !== undefined,
  );
}

/** A file of the project that is no data, or a script in another place. */
function findServerFile(name: string, from: string, folder: string): readonly string[] {
  const found =
    findFile(toPath(name, join(from, "x")) ?? resolve(from, name)) ?? findFile(resolve(from, name));
  if (found === undefined || !isOutsidePackages(found)) return [];
  const isInside = found.startsWith(folder + sep) && !isData(found);
  return isInside || isScript.test(found) ? [found] : [];
}

const dataTypes: ReadonlySet<string> = new Set([
  ...[".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".md", ".txt", ".log", ".pdf", ".parquet", ".zip", ".gz"],
  ...[".db", ".db-wal", ".db-shm", ".db-journal", ".sqlite", ".sqlite3", ".sqlite-wal", ".sqlite-shm"],
  ...[".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".ico", ".mp3", ".mp4", ".wav", ".webm"],
  ...[".woff", ".woff2", ".ttf", ".gguf"],
]);

/** Whether a file holds data, which runs may change, or values of the environment. A `package.json` names programs. */
function isData(path: string): boolean {
  if (basename(path).startsWith(".env")) return true;
  return dataTypes.has(extname(path).toLowerCase()) && basename(path) !== "package.json";
}

/** Whether a file that no text names can be code. One without a type is, if it is a program or has a known name. */
export function mayBeCode(path: string, mode: number): boolean {
  if (extname(path) !== "") return !isData(path);
  return (mode & 0o111) !== 0 || /^(?:\.(?:npm|yarn)rc|[A-Z]\w*file|makefile|justfile)$/.test(basename(path));
}

const maxWords = 5_000;

/** Finds the files that a text mentions, as a shell script or a list of arguments does. */
export function findMentions(text: string, folders: readonly string[]): readonly string[] {
  const words = [...new Set(text.split(/[\s"'`()[\]{}<>;,=|&:]+/))].slice(0, maxWords);
  const paths = words.flatMap((word) => folders.map((folder) => resolve(folder, word)));
  return paths.flatMap((path) => {
    const found = path.length < 1_000 ? findFile(path) : undefined;
    const isNamed = found !== undefined && folders.some((folder) => found.startsWith(folder + sep));
    return isNamed && isOutsidePackages(found) && !isData(found) ? [found] : [];
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
