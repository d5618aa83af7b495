import { registerHooks } from "node:module";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

/** Makes Node import the config and its files again, although modules are cached. */
export interface ModuleReloader {
  /** Later imports read the files again. */
  invalidate(): void;
  /** Returns all imported files, and files that were not found. */
  listFiles(): readonly string[];
}

const versionParameter = "capstan-reading";
const isConfig = (url: string): boolean =>
  /^capstan\.config\.[cm]?[jt]s$/.test(basename(new URL(url).pathname));
/** Packages are not reloaded: values of two copies would not be compatible. */
const isFilePath = (specifier: string): boolean => /^(?:\.|\/|#|file:)/.test(specifier);

/** Adds a version to the module URLs, which makes them new modules for Node. */
export function createModuleReloader(): ModuleReloader {
  const files = new Set<string>();
  let version = 0;
  registerHooks({
    resolve(specifier, context, next) {
      const isImport = context.conditions.includes("import");
      const fromConfig = context.parentURL?.includes(`${versionParameter}=`) ?? false;
      if (!isImport || !isFilePath(specifier)) return next(specifier, context);
      try {
        const found = next(specifier, context);
        if (!found.url.startsWith("file:") || found.url.includes("/node_modules/")) return found;
        if (!fromConfig && !isConfig(found.url)) return found;
        files.add(fileURLToPath(found.url.split("?")[0] ?? found.url));
        const url = new URL(found.url);
        url.searchParams.set(versionParameter, String(version));
        return { ...found, url: url.href };
      } catch (error) {
        if (fromConfig && /^\.|^file:/.test(specifier))
          files.add(fileURLToPath(new URL(specifier, context.parentURL?.split("?")[0])));
        throw error;
      }
    },
  });
  return {
    invalidate() {
      version += 1;
    },
    listFiles: () => [...files],
  };
}
