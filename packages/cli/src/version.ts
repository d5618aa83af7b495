import { existsSync, readFileSync } from "node:fs";

type Manifest = { readonly version: string };

// One folder above the source and the build, two above a file that builds share.
const manifestUrls = ["../package.json", "../../package.json"].map(
  (place) => new URL(place, import.meta.url),
);

/** Of this package. */
export const version: string = (
  JSON.parse(readFileSync(manifestUrls.find((place) => existsSync(place)) ?? "", "utf8")) as Manifest
).version;
