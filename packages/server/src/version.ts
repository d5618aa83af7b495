import { existsSync, readFileSync } from "node:fs";

type Manifest = { readonly version: string };

// One folder above the source and the build, two above a file that builds share.
const places = ["../package.json", "../../package.json"].map((place) => new URL(place, import.meta.url));

/** Of this package, and of all others that came with it. */
export const version: string = (
  JSON.parse(readFileSync(places.find((place) => existsSync(place)) ?? "", "utf8")) as Manifest
).version;
