// Reads the imports of source files and compares them with tables of what may import what. It knows no names of
// this project: the tables are in architecture.test.ts.
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path/posix";

/** `path` is relative to the root of the workspace, with "/" on every system. */
export type Source = { readonly path: string; readonly text: string };

/** Files ("index.ts"), folders ("models/") and the root's own files except its index ("./"), relative to the folder of the table. */
export type Patterns = readonly string[];

export type Layer = {
  readonly files: Patterns;
  readonly imports: Patterns | "anything";
  /** npm packages and node: modules; a package stands for its subpaths too. */
  readonly packages: Patterns | "anything";
};

/** Which packages of the workspace a package may import; a package that is not listed may not exist. */
export type PackageGraph = Readonly<Record<string, readonly string[]>>;

export type WorldRule = { readonly uses: Readonly<Record<string, RegExp>>; readonly allowedIn: Patterns };

const fromClause = /\b(?:import|export)\b[^"'`;]*?\bfrom\s*["']([^"']+)["']/g;
const bareImport = /\bimport\s*\(?\s*["']([^"']+)["']/g;

export function importsOf(text: string): string[] {
  const code = withoutComments(text);
  return [...code.matchAll(fromClause), ...code.matchAll(bareImport)].map((match) => match[1] ?? "");
}

function withoutComments(text: string): string {
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
const isOf = (specifier: string, name: string): boolean =>
  specifier === name || specifier.startsWith(`${name}/`);

/** Holds the layers inside `folder` (ends with "/"). */
export function layerProblems(
  sources: readonly Source[],
  folder: string,
  layers: readonly Layer[],
): string[] {
  return sources.flatMap(({ path, text }) => {
    if (!path.startsWith(folder)) return [];
    const file = path.slice(folder.length);
    const layer = layers.find((candidate) => matches(file, candidate.files));
    if (!layer) return [`${path} belongs to no layer. Move it, or name it in the table of layers.`];
    return importsOf(text).flatMap((specifier) => {
      const allowed = isRelative(specifier)
        ? layer.imports === "anything" || matches(join(dirname(file), specifier), layer.imports)
        : layer.packages === "anything" || layer.packages.some((name) => isOf(specifier, name));
      return allowed ? [] : [`${path} must not import "${specifier}".`];
    });
  });
}

/**
 * Holds the imports between packages, apps and benchmarks: `graph` says which, and none may reach into the folder
 * of another. (That a subpath is exported, the compiler checks.)
 */
export function packageProblems(sources: readonly Source[], graph: PackageGraph): string[] {
  return sources.flatMap(({ path, text }) => {
    const root = rootOf(path);
    const own = root.startsWith("packages/") ? root.slice("packages/".length) : undefined;
    if (own !== undefined && !Object.hasOwn(graph, own))
      return [`${path} is in a package without a row. Add "${own}" to the table of packages.`];
    return importsOf(text).flatMap((specifier) => {
      if (isRelative(specifier)) {
        const target = join(dirname(path), specifier);
        // Benchmarks, and what tests stand on, may use what tests of a package stand on; one file puts the apps together.
        const isAllowed =
          target.startsWith(`${root}/`) ||
          ((root === "bench" || path.includes("/src/testing/")) && target.includes("/src/testing/")) ||
          (path === "apps/capstan.config.ts" && target.startsWith("apps/"));
        return isAllowed ? [] : [`${path} must not reach into ${rootOf(target)}.`];
      }
      const other = Object.keys(graph).find((name) => isOf(specifier, publishedName(name)));
      if (other === undefined || own === undefined || other === own || graph[own]?.includes(other)) return [];
      // What tests stand on is published with no package, and may need any of them.
      if (path.includes("/src/testing/")) return [];
      return [
        `${path} must not import "${specifier}": ${own} may import ${graph[own]?.join(", ") || "nothing"}.`,
      ];
    });
  });
}

/** "packages/capstan", "apps/airport", "bench". */
function rootOf(path: string): string {
  const [first = "", second = ""] = path.split("/");
  return first === "packages" || first === "apps" ? `${first}/${second}` : first;
}

const publishedName = (name: string): string => (name === "capstan" ? name : `@capstan/${name}`);

/** node: modules only in `allowed` files of `folder`, so that the rest runs in browsers. */
export function nodeProblems(sources: readonly Source[], folder: string, allowed: Patterns): string[] {
  return sources.flatMap(({ path, text }) => {
    if (!path.startsWith(folder) || matches(path.slice(folder.length), allowed)) return [];
    const modules = importsOf(text).filter((specifier) => specifier.startsWith("node:"));
    return modules.map((name) => `${path} must not import "${name}": it has to run in browsers too.`);
  });
}

/** Time, chance and the network only in the files that perform effects; everything else gets them passed in. */
export function worldProblems(sources: readonly Source[], folder: string, rule: WorldRule): string[] {
  return sources.flatMap(({ path, text }) => {
    if (!path.startsWith(folder) || matches(path.slice(folder.length), rule.allowedIn)) return [];
    const code = withoutComments(text);
    const used = Object.entries(rule.uses).filter(([, use]) => use.test(code));
    return used.map(([name]) => `${path} must not use ${name}: have it passed in.`);
  });
}

/** A file is named after what it holds. */
export function nameProblems(sources: readonly Source[]): string[] {
  const nameless = /\/(?:utils?|helpers?|misc|common|types?)\.tsx?$/;
  const found = sources.filter(({ path }) => nameless.test(path));
  return found.map(({ path }) => `${path} says nothing by its name. Name it after its main export.`);
}

/** The sources below `root` that `patterns` find, without tests. */
export function readSources(root: string, patterns: readonly string[]): Source[] {
  const paths = globSync(patterns, { cwd: root, exclude: ["**/node_modules/**", "**/dist/**"] });
  return paths
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => !/\.test(?:-d)?\.tsx?$/.test(path))
    .sort()
    .map((path) => ({ path, text: readFileSync(`${root}/${path}`, "utf8") }));
}
