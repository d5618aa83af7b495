// Where the app works when it is given no folder: a copy of the sample, so that an edit never changes the sample itself.
import { randomUUID } from "node:crypto";
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { dataFolder } from "capstan/data-folder";

/** The sample, copied on first use into the folder where Capstan keeps its data. Delete the copy to begin anew. */
export function sampleWorkspace(home: string = dataFolder()): string {
  const folder = join(home, "files-workspace");
  if (existsSync(folder)) return folder;
  // It gets its name when it is whole: half a copy would be taken for one that somebody has changed.
  const beside = `${folder}.${randomUUID()}`;
  mkdirSync(beside, { recursive: true, mode: 0o700 });
  try {
    cpSync(join(import.meta.dirname, "sample"), beside, { recursive: true });
    renameSync(beside, folder);
  } catch (error) {
    rmSync(beside, { recursive: true, force: true });
    if (!existsSync(folder)) throw error; // else another process was faster
  }
  return folder;
}
