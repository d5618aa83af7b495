import { existsSync } from "node:fs";
import { glob, readFile } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import type { Network, NetworkEdge, NetworkNode } from "../network.ts";

/** The packages of this project, if their sources are present. */
export const packagesFolder: string = resolve(import.meta.dirname, "../../../packages");

export const hasSources = (packages: string): boolean => existsSync(join(packages, "capstan", "src"));

type Module = { readonly path: string; readonly imports: readonly string[] };

/**
 * Reads the import graph from the sources. Nodes are folders of packages, to keep the picture small; edges count the
 * imports.
 */
export async function readModuleGraph(packages: string, signal?: AbortSignal): Promise<Network> {
  const modules = await readModules(packages, signal);
  const exported = await readExports(packages);
  const files = new Map<string, number>();
  const imports = new Map<string, number>();
  for (const { path, imports: specifiers } of modules) {
    const from = getFolder(packages, path);
    files.set(from, (files.get(from) ?? 0) + 1);
    for (const specifier of specifiers) {
      const target = specifier.startsWith(".") ? join(dirname(path), specifier) : exported.get(specifier);
      const to = target && getFolder(packages, target);
      if (to && to !== from) imports.set(`${from} ${to}`, (imports.get(`${from} ${to}`) ?? 0) + 1);
    }
  }
  const nodes = [...files].map(([id, count]): NetworkNode => {
    return { id, data: { type: id.split("/", 1)[0] ?? id, name: id, files: count } };
  });
  const edges = [...imports].flatMap(([ends, count], index): NetworkEdge[] => {
    const [from = "", to = ""] = ends.split(" ");
    return files.has(to)
      ? [{ id: `i${index + 1}`, from, to, data: { type: "imports", imports: count } }]
      : [];
  });
  return { name: "modules", title: "The modules of this project", isDirected: true, nodes, edges };
}

async function readModules(packages: string, signal?: AbortSignal): Promise<Module[]> {
  const modules: Module[] = [];
  const found = await Array.fromAsync(glob("*/src/**/*.{ts,tsx}", { cwd: packages }));
  for (const name of found.sort()) {
    signal?.throwIfAborted();
    if (/\.test(?:-d)?\.tsx?$|\.d\.ts$/u.test(name)) continue;
    const path = join(packages, name);
    const text = await readFile(path, "utf8");
    const imports = [...text.matchAll(/(?:^|\s)(?:from|import)\s*\(?\s*"([^"]+)"/gu)];
    modules.push({ path, imports: imports.map(([, specifier = ""]) => specifier) });
  }
  return modules;
}

/** Maps exports such as `capstan/client` to source files, from the packages' manifests. */
async function readExports(packages: string): Promise<ReadonlyMap<string, string>> {
  const exported = new Map<string, string>();
  for await (const file of glob("*/package.json", { cwd: packages })) {
    const manifest = JSON.parse(await readFile(join(packages, file), "utf8"));
    const conditions: { [subpath: string]: { "capstan-source"?: string } } = manifest.exports ?? {};
    for (const [subpath, { "capstan-source": source }] of Object.entries(conditions)) {
      if (source) exported.set(join(manifest.name, subpath), join(packages, dirname(file), source));
    }
  }
  return exported;
}

/** `capstan/models` for packages/capstan/src/models/openai.ts, `capstan` for packages/capstan/src/kernel/agent.ts. */
function getFolder(packages: string, path: string): string {
  const [name = "", , ...rest] = relative(packages, path).split(sep);
  return rest.length > 1 ? `${name}/${rest[0]}` : name;
}
