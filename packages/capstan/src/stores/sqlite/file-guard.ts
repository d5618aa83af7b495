import { statSync } from "node:fs";
import { resolve } from "node:path";
import { AgentError } from "../../base/errors.ts";

/**
 * Returns a function that throws once the file of an open database, or its write-ahead log, was deleted or replaced.
 * SQLite keeps writing to the deleted file, and everything it acknowledges is lost when the process ends.
 */
export function createFileGuard(file: string): () => void {
  if (file === ":memory:") return () => undefined;
  const path = resolve(file); // the working directory may change
  const identify = () => [path, `${path}-wal`].map(readIdentity).join();
  const opened = identify();
  return () => {
    if (identify() === opened) return;
    const message = `The store "${file}" was deleted or replaced while it was in use, so nothing can be stored. Put the file and its "-wal" file back, or restart the process to use the new file.`;
    throw new AgentError("store_failed", message, { retryable: false });
  };
}

function readIdentity(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats ? `${stats.dev}:${stats.ino}` : "missing";
}
