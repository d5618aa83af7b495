import type { Entry, MediaPart, Part } from "../kernel/history.ts";
import { withConvertedEntries } from "./convert-entries.ts";
import type { Wire } from "./wire.ts";

/**
 * Removes references to files from the requests of a wire, for a cloud that speaks the API of another provider but does
 * not have its files. Each part falls back to its bytes or its URL.
 */
export function withoutFiles(wire: Wire): Wire {
  return {
    ...withConvertedEntries(wire, (entry) =>
      hasFile(entry) ? { ...entry, content: entry.content.map(withoutFile) } : entry,
    ),
    acceptsMedia: (part) => wire.acceptsMedia?.(withoutFile(part)) ?? true,
  };
}

type EntryWithParts = Extract<Entry, { type: "user" | "result" }> & { readonly content: readonly Part[] };

function hasFile(entry: Entry): entry is EntryWithParts {
  if ((entry.type !== "user" && entry.type !== "result") || typeof entry.content === "string") return false;
  return entry.content.some((part) => part.type !== "text" && part.file);
}

function withoutFile<AnyPart extends Part | MediaPart>(part: AnyPart): AnyPart {
  if (part.type === "text") return part;
  const { file: _, ...rest } = part as MediaPart;
  return rest as AnyPart;
}
