import { join } from "node:path";
import { AgentError } from "capstan";
import { readVenueFiles } from "./read-venue-files.ts";
import { buildVenue } from "./venue/build-venue.ts";
import type { Venue } from "./venue/venue.ts";

/** The fictional airport included with the app. */
export const harborFolder: string = join(import.meta.dirname, "data", "harbor");

/** Loads an IMDF folder or archive. Rejects with `not_found`, or with `file_invalid` and what is wrong with it. */
export async function loadVenue(path: string = harborFolder): Promise<Venue> {
  const { files } = await readVenueFiles([path]);
  try {
    return buildVenue(files).venue;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new AgentError("file_invalid", `"${path}" cannot be used. ${reason}`, { cause: error });
  }
}
