import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

type StudioModule = { readonly studioFolder: string; readonly widgetPage: string };

/** Returns the page with the widgets for other MCP hosts, if the package of the studio is installed and built. */
export async function loadWidgetPage(): Promise<string | undefined> {
  const studio = await importStudio();
  return studio && existsSync(studio.widgetPage) ? readFile(studio.widgetPage, "utf8") : undefined;
}

/** Returns the folder of the studio's pages, if its package is installed and built. */
export async function findStudio(): Promise<string | undefined> {
  const studio = await importStudio();
  return studio && existsSync(join(studio.studioFolder, "index.html")) ? studio.studioFolder : undefined;
}

/** Says why `findStudio` finds none, and what to do. */
export async function explainMissingStudio(): Promise<string> {
  return (await importStudio())
    ? "The studio is not built. Run `npm run build -w @capstan/studio`."
    : "The studio is not installed. Run `npm install @capstan/studio`.";
}

async function importStudio(): Promise<StudioModule | undefined> {
  let address: string;
  try {
    address = import.meta.resolve("@capstan/studio");
  } catch {
    return undefined;
  }
  return (await import(address)) as StudioModule;
}
