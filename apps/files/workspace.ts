// Where the app works when it is given no folder: a copy of the sample, so that an edit never changes the sample itself.
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { dataFolder } from "capstan/data-folder";

/** The sample, copied on first use into the folder where Capstan keeps its data. Delete the copy to begin anew. */
export function sampleWorkspace(home: string = dataFolder()): string {
  const folder = join(home, "files-workspace");
  if (!existsSync(folder)) cpSync(join(import.meta.dirname, "sample"), folder, { recursive: true });
  return folder;
}
