import { existsSync, readFileSync } from "node:fs";

type Manifest = { readonly version: string };

// `../` from source and build, `../../` from a chunk shared by several builds.
const places = ["../package.json", "../../package.json"].map((place) => new URL(place, import.meta.url));

/** Version of this package; all packages share it. */
export const version: string = (
  JSON.parse(readFileSync(places.find((place) => existsSync(place)) ?? "", "utf8")) as Manifest
).version;
