import { existsSync } from "node:fs";
import { join } from "node:path";

/** Returns the folder of the studio's pages, if its package is installed and built. */
export async function findStudio(): Promise<string | undefined> {
  let address: string;
  try {
    address = import.meta.resolve("@capstan/studio");
  } catch {
    return undefined;
  }
  const { studioFolder } = (await import(address)) as { readonly studioFolder: string };
  return existsSync(join(studioFolder, "index.html")) ? studioFolder : undefined;
}
