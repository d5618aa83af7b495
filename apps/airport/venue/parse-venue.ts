// The parser that own-data.ts runs in a worker: archives of others may be large or broken.
export { buildVenue as parse } from "./build-venue.ts";
