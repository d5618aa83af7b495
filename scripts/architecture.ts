// Checks the imports of source files against tables of allowed imports. The tables for this project are in
// architecture.test.ts.
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path/posix";

/** `path` is relative to the root of the workspace, with "/" on every system. */
export type Source = { readonly path: string; readonly text: string };

/** Files ("index.ts"), folders ("models/") and the root's own files except its index ("./"), relative to the folder of the table. */
export type Patterns = readonly string[];

export type Layer = {
  readonly files: Patterns;
  readonly imports: Patterns | "anything";
  /** npm packages and node: modules; a package includes its subpaths. */
  readonly packages: Patterns | "anything";
};

/** The workspace packages that each package may import. Every package must be listed. */
export type PackageGraph = Readonly<Record<string, readonly string[]>>;

export type WorldRule = { readonly uses: Readonly<Record<string, RegExp>>; readonly allowedIn: Patterns };

const fromClause = /\b(?:import|export)\b[^"'`;]*?\bfrom\s*["']([^"']+)["']/g;
const bareImport = /(?<!["'])\bimport\s*\(?\s*["']([^"']+)["']/g;

export function findImports(text: string): string[] {
  const code = stripComments(text);
  return [...code.matchAll(fromClause), ...code.matchAll(bareImport)].map((match) => match[1] ?? "");
}

function stripComments(text: string): string {
  const literalOrComment =
    /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
  return text.replace(literalOrComment, (_all, literal: string | undefined) => literal ?? "");
}

const matches = (path: string, patterns: Patterns): boolean =>
  patterns.some((pattern) => {
    if (pattern === "./") return !path.includes("/") && path !== "index.ts";
    return pattern.endsWith("/") ? path.startsWith(pattern) : path === pattern;
  });

const isRelative = (specifier: string): boolean => specifier.startsWith(".");
const isFromPackage = (specifier: string, name: string): boolean =>
  specifier === name || specifier.startsWith(`${name}/`);

/** Checks the layers inside `folder`, which ends with "/". */
export function checkLayers(sources: readonly Source[], folder: string, layers: readonly Layer[]): string[] {
  return sources.flatMap(({ path, text }) => {
    if (!path.startsWith(folder)) return [];
    const file = path.slice(folder.length);
    const layer = layers.find((candidate) => matches(file, candidate.files));
    if (!layer) return [`${path} does not belong to a layer. Move it, or add it to the table of layers.`];
    return findImports(text).flatMap((specifier) => {
      const allowed = isRelative(specifier)
        ? layer.imports === "anything" || matches(join(dirname(file), specifier), layer.imports)
        : layer.packages === "anything" || layer.packages.some((name) => isFromPackage(specifier, name));
      return allowed ? [] : [`${path} must not import "${specifier}".`];
    });
  });
}

/**
 * Returns the folders inside `folder` that import each other in a circle, directly or through others, one list per circle.
 * A folder is the first segment of a path, or the first two below `kernel/` and `features/`.
 */
export function findFolderCycles(sources: readonly Source[], folder: string): string[][] {
  const own = sources.filter(({ path }) => path.startsWith(folder) && !/\/(?:testing|fixtures)\//.test(path));
  const imports = new Map<string, Set<string>>();
  for (const { path, text } of own) {
    const targets = findImports(text).filter(isRelative);
    const folders = targets.map((specifier) =>
      getFolder(join(dirname(path), specifier).slice(folder.length)),
    );
    const from = getFolder(path.slice(folder.length));
    imports.set(from, new Set([...(imports.get(from) ?? []), ...folders]));
  }
  const reach = (from: string, seen = new Set<string>()): Set<string> => {
    for (const to of imports.get(from) ?? [])
      if (!seen.has(to)) {
        seen.add(to);
        reach(to, seen);
      }
    return seen;
  };
  const reached = new Map([...imports.keys()].map((from) => [from, reach(from)]));
  const circles = [...reached].map(([from, seen]) =>
    [...seen].filter((to) => to !== from && reached.get(to)?.has(from)).concat(from),
  );
  const lists = circles.filter(({ length }) => length > 1).map((circle) => circle.sort());
  return [...new Map(lists.map((circle) => [circle.join(), circle])).values()].sort();
}

function getFolder(file: string): string {
  const segments = file.split("/");
  if (segments.length === 1) return file === "index.ts" ? file : "./";
  const depth = /^(?:kernel|features)$/.test(segments[0] ?? "") && segments.length > 2 ? 2 : 1;
  return `${segments.slice(0, depth).join("/")}/`;
}

/** Exceptions to the graph of packages: one specifier that one file may import. */
export type ImportExceptions = Readonly<Record<string, string>>;

/** The files that combine the apps: the studio of all five, and the agents for their first words. */
const combinesApps: ReadonlySet<string> = new Set(["apps/capstan.config.ts", "apps/first-words/agents.ts"]);

/**
 * Checks the imports between packages, apps and benchmarks against `graph`. None may import from the folder of another.
 * (The compiler checks that a subpath is exported.)
 */
export function checkPackages(
  sources: readonly Source[],
  graph: PackageGraph,
  exceptions: ImportExceptions = {},
): string[] {
  return sources.flatMap(({ path, text }) => {
    const root = getRoot(path);
    const ownPackage = root.startsWith("packages/") ? root.slice("packages/".length) : undefined;
    if (ownPackage !== undefined && !Object.hasOwn(graph, ownPackage))
      return [`${path} is in a package without a row. Add "${ownPackage}" to the table of packages.`];
    return findImports(text).flatMap((specifier) => {
      if (isRelative(specifier)) {
        const target = join(dirname(path), specifier);
        // Benchmarks and test support may use the test support of a package, and apps share the readers of files.
        const isAllowed =
          target.startsWith(`${root}/`) ||
          ((root === "bench" || path.includes("/src/testing/")) && target.includes("/src/testing/")) ||
          (root.startsWith("apps/") && target.startsWith("apps/import/")) ||
          (combinesApps.has(path) && target.startsWith("apps/"));
        return isAllowed ? [] : [`${path} must not reach into ${getRoot(target)}.`];
      }
      const other = Object.keys(graph).find((name) => isFromPackage(specifier, toPublishedName(name)));
      if (
        other === undefined ||
        ownPackage === undefined ||
        other === ownPackage ||
        graph[ownPackage]?.includes(other)
      )
        return [];
      // Test support is not published, so it may import any package.
      if (path.includes("/src/testing/") || exceptions[path] === specifier) return [];
      return [
        `${path} must not import "${specifier}": ${ownPackage} may import ${graph[ownPackage]?.join(", ") || "nothing"}.`,
      ];
    });
  });
}

/** "packages/capstan", "apps/airport", "bench". */
function getRoot(path: string): string {
  const [first = "", second = ""] = path.split("/");
  return first === "packages" || first === "apps" ? `${first}/${second}` : first;
}

const toPublishedName = (name: string): string => (name === "capstan" ? name : `@capstan/${name}`);

/** Allows node: modules only in `allowed` files of `folder`, so that the rest runs in browsers. */
export function checkNodeModules(sources: readonly Source[], folder: string, allowed: Patterns): string[] {
  return sources.flatMap(({ path, text }) => {
    if (!path.startsWith(folder) || matches(path.slice(folder.length), allowed)) return [];
    const modules = findImports(text).filter((specifier) => specifier.startsWith("node:"));
    return modules.map((name) => `${path} must not import "${name}": it has to run in browsers too.`);
  });
}

/** Allows time, randomness and the network only in files that perform effects; other code receives them as parameters. */
export function checkWorldAccess(sources: readonly Source[], folder: string, rule: WorldRule): string[] {
  return sources.flatMap(({ path, text }) => {
    if (!path.startsWith(folder) || matches(path.slice(folder.length), rule.allowedIn)) return [];
    const code = stripComments(text);
    const used = Object.entries(rule.uses).filter(([, use]) => use.test(code));
    return used.map(([name]) => `${path} must not use ${name}: pass it in.`);
  });
}

/** Rejects file names that say nothing about the content. */
export function checkFileNames(sources: readonly Source[]): string[] {
  const nameless = /\/(?:utils?|helpers?|misc|common|types?)\.tsx?$/;
  const found = sources.filter(({ path }) => nameless.test(path));
  return found.map(({ path }) => `${path} has a meaningless name. Name it after its main export.`);
}

/** Reads the sources below `root` that match `patterns`, without tests. */
export function readSources(root: string, patterns: readonly string[]): Source[] {
  const paths = globSync(patterns, { cwd: root, exclude: ["**/node_modules/**", "**/dist/**"] });
  return paths
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => !/\.test(?:-d)?\.tsx?$/.test(path))
    .sort()
    .map((path) => ({ path, text: readFileSync(`${root}/${path}`, "utf8") }));
}
