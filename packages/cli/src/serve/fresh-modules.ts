import { registerHooks } from "node:module";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

/** Reads a configuration and the files it imports anew, though modules are loaded only once. */
export interface ModuleReloader {
  /** From now on they are read again when they are imported. */
  invalidate(): void;
  /** All that was imported so far, and what was looked for in vain. */
  listFiles(): readonly string[];
}

const versionParameter = "capstan-reading";
const isConfig = (url: string): boolean =>
  /^capstan\.config\.[cm]?[jt]s$/.test(basename(new URL(url).pathname));
/** Packages stay as they are: two copies of one would not know each other's values. */
const isFilePath = (specifier: string): boolean => /^(?:\.|\/|#|file:)/.test(specifier);

/** Marks the address of each such module with the number of the reading, which makes it another module for Node. */
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
