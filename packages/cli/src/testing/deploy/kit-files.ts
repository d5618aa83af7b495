import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The folder with the production kit. */
export const kitFolder: string = join(import.meta.dirname, "../../../../../deploy");

export function readKitFile(name: string): string {
  return readFileSync(join(kitFolder, name), "utf8");
}

/** Whether a program is installed, as its directory in `PATH` decides. */
export function hasProgram(name: string): boolean {
  try {
    execFileSync("sh", ["-c", `command -v ${name}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
