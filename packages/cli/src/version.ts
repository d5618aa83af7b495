import { existsSync, readFileSync } from "node:fs";

type Manifest = { readonly version: string };

// One level up from src/ and dist/, two levels up from a chunk in dist/shared/.
const manifestUrls = ["../package.json", "../../package.json"].map(
  (place) => new URL(place, import.meta.url),
);

/** Version of this package. */
export const version: string = (
  JSON.parse(readFileSync(manifestUrls.find((place) => existsSync(place)) ?? "", "utf8")) as Manifest
).version;
