import { type FSWatcher, readFileSync, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { computeSha256 } from "../sha256.ts";

/** Watches a growing set of files. */
export interface FileWatch {
  /** Adds files to watch. */
  add(files: readonly string[]): void;
  /** Does not report the current content of these files. */
  accept(files: readonly string[]): void;
  close(): void;
}

/** Editors write in several steps, often several files. */
const debounceMs = 60;

/** Calls `onChange` with the files whose content has changed, once for simultaneous changes. */
export function watchFiles(onChange: (files: readonly string[]) => void): FileWatch {
  const folders = new Map<string, FSWatcher>();
  const contents = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;

  function checkFiles(): void {
    const changed = [...contents].filter(([file, known]) => hashFile(file) !== known);
    for (const [file] of changed) contents.set(file, hashFile(file));
    if (changed.length > 0) onChange(changed.map(([file]) => file));
  }
  function onFolderChange(folder: string, name: string | null): void {
    const isOurs =
      name === null ||
      [...contents.keys()].some((file) => dirname(file) === folder && basename(file) === name);
    if (!isOurs) return;
    clearTimeout(timer);
    timer = setTimeout(checkFiles, debounceMs);
  }
  // Watches the folder, because editors replace files instead of writing to them.
  function watchFolder(folder: string): void {
    if (folders.has(folder)) return;
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => onFolderChange(folder, name));
      watcher.on("error", () => folders.delete(folder));
      folders.set(folder, watcher);
    } catch {
      // The folder does not exist yet: its file is watched once it is imported.
    }
  }
  return {
    add(files) {
      for (const file of files) {
        watchFolder(dirname(file));
        if (!contents.has(file)) contents.set(file, hashFile(file));
      }
    },
    accept(files) {
      for (const file of files) if (contents.has(file)) contents.set(file, hashFile(file));
    },
    close() {
      clearTimeout(timer);
      for (const watcher of folders.values()) watcher.close();
    },
  };
}

function hashFile(file: string): string {
  try {
    return computeSha256(readFileSync(file));
  } catch {
    return "none";
  }
}
