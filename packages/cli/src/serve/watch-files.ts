import { createHash } from "node:crypto";
import { type FSWatcher, readFileSync, watch } from "node:fs";
import { basename, dirname } from "node:path";

/** Watches a set of files that can grow. */
export interface FileWatch {
  /** Watches these from now on, beside those it knows. */
  add(files: readonly string[]): void;
  close(): void;
}

/** Editors write in several steps, and several files at once. */
const debounceMs = 60;

/** Calls `onChange` when the content of a file is another one, once for changes that come together. */
export function watchFiles(onChange: () => void): FileWatch {
  const folders = new Map<string, FSWatcher>();
  const contents = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;

  function checkFiles(): void {
    const changed = [...contents].filter(([file, known]) => hashFile(file) !== known);
    for (const [file] of changed) contents.set(file, hashFile(file));
    if (changed.length > 0) onChange();
  }
  function onFolderChange(folder: string, name: string | null): void {
    const isOurs =
      name === null ||
      [...contents.keys()].some((file) => dirname(file) === folder && basename(file) === name);
    if (!isOurs) return;
    clearTimeout(timer);
    timer = setTimeout(checkFiles, debounceMs);
  }
  // A folder, because an editor puts a new file in the place of the old one.
  function watchFolder(folder: string): void {
    if (folders.has(folder)) return;
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => onFolderChange(folder, name));
      watcher.on("error", () => folders.delete(folder));
      folders.set(folder, watcher);
    } catch {
      // A folder that does not exist yet: the file in it is watched when it is imported.
    }
  }
  return {
    add(files) {
      for (const file of files) {
        watchFolder(dirname(file));
        if (!contents.has(file)) contents.set(file, hashFile(file));
      }
    },
    close() {
      clearTimeout(timer);
      for (const watcher of folders.values()) watcher.close();
    },
  };
}

function hashFile(file: string): string {
  try {
    return createHash("sha256").update(readFileSync(file)).digest("hex");
  } catch {
    return "none";
  }
}
