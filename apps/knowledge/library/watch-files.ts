import { basename } from "node:path";
import { watch } from "chokidar";
import type { SkippedFile } from "./find-files.ts";

export interface FileWatch {
  /** Why changes may not be noticed. */
  listProblems(): readonly SkippedFile[];
  /** Stops, and waits for a call that is under way. */
  close(): Promise<void>;
}

/** Editors write several times, and folders are copied file by file: wait until nothing has changed for this long. */
const quietMs = 300;

/**
 * Calls `onChange` after files were added, changed or removed, one call at a time. Resolves when changes are noticed. A
 * call that fails is reported as a problem until one succeeds.
 */
export async function watchFiles(
  locations: readonly string[],
  onChange: () => Promise<void>,
): Promise<FileWatch> {
  const problems = new Map<string, SkippedFile>();
  const addProblem = (cause: string, error: unknown) =>
    problems.set(cause, { item: cause, reason: error instanceof Error ? error.message : String(error) });
  let running = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const run = async () => {
    try {
      await onChange();
      problems.delete("changed files");
    } catch (error) {
      addProblem("changed files", error);
    }
  };
  const watcher = watch([...locations], {
    ignoreInitial: true,
    followSymlinks: false,
    ignored: (path) => !locations.includes(path) && isIgnored(basename(path)),
  });
  const ready = new Promise<void>((resolve) => watcher.once("ready", resolve));
  watcher.on("error", (error) => addProblem("watching", error));
  watcher.on("all", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      running = running.then(run);
    }, quietMs);
  });
  await ready;
  return {
    listProblems: () => [...problems.values()],
    async close() {
      clearTimeout(timer);
      await watcher.close();
      clearTimeout(timer);
      await running;
    },
  };
}

const isIgnored = (name: string): boolean => name.startsWith(".") || name === "node_modules";
