// The default workspace: a copy of the sample, so that edits never change the sample itself.
import { randomUUID } from "node:crypto";
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { dataFolder } from "capstan/data-folder";

/** Copies the sample into the data folder on first use. Delete the copy to start over. */
export function ensureSampleWorkspace(home: string = dataFolder()): string {
  const folder = join(home, "files-workspace");
  if (existsSync(folder)) return folder;
  // Rename only a complete copy: a partial one would look like a workspace with deleted files.
  const temporaryFolder = `${folder}.${randomUUID()}`;
  mkdirSync(temporaryFolder, { recursive: true, mode: 0o700 });
  try {
    cpSync(join(import.meta.dirname, "sample"), temporaryFolder, { recursive: true });
    renameSync(temporaryFolder, folder);
  } catch (error) {
    rmSync(temporaryFolder, { recursive: true, force: true });
    if (!existsSync(folder)) throw error; // otherwise another process was faster
  }
  return folder;
}
