import { existsSync, readFileSync } from "node:fs";

type Manifest = { readonly name: string; readonly version: string };

/** Version of this package; all packages share it. `unknown` in a bundle of an application. */
export const version: string = findVersion() ?? "unknown";

function findVersion(): string | undefined {
  // `../` from source and build, `../../` from a chunk shared by several builds.
  for (const place of ["../package.json", "../../package.json"]) {
    if (!import.meta.url?.startsWith("file:")) return undefined;
    const url = new URL(place, import.meta.url);
    const manifest = existsSync(url) ? (JSON.parse(readFileSync(url, "utf8")) as Manifest) : undefined;
    if (manifest?.name === "@capstan/server") return manifest.version;
  }
  return undefined;
}
