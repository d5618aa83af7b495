import { createApplicationEntry, type Part, type UserEntry } from "capstan";

/** Who answers for text that a client application adds to the user's. */
export type ClientProvenance = "application" | "operator";

/** Creates the entry for text and files that a client application adds. It never counts as the user's words. */
export function createClientEntry(
  provenance: ClientProvenance,
  text: string,
  files: readonly Part[] = [],
): UserEntry {
  if (provenance === "application") return createApplicationEntry(text, files);
  return { type: "user", content: files.length > 0 ? [{ type: "text", text }, ...files] : text, provenance };
}
