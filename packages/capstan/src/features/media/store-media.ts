import { fromBase64, toBase64 } from "../../base/json.ts";
import type { FactBody } from "../../kernel/event.ts";
import {
  type AssistantEntry,
  type AssistantPart,
  type Entry,
  formatPlaceholder,
  type MediaPart,
  type Part,
} from "../../kernel/history.ts";
import type { Io } from "../../kernel/io.ts";
import type { Model } from "../../kernel/model.ts";

type Blobs = Io["blobs"];

/** Stores the generated media of a message as blobs; the facts keep their handles. Rejects if the store does. */
export function storeMedia(facts: readonly FactBody[], blobs: Blobs): Promise<readonly FactBody[]> {
  return Promise.all(
    facts.map(async (fact) => {
      if (fact.type !== "message" && fact.type !== "message_partial") return fact;
      const parts: AssistantPart[] = [];
      for (const part of fact.entry.parts) parts.push(await storePart(part, blobs));
      return { ...fact, entry: { ...fact.entry, parts } };
    }),
  );
}

async function storePart(part: AssistantPart, blobs: Blobs): Promise<AssistantPart> {
  if (part.type !== "media" || part.data === undefined) return part;
  const { data, ...rest } = part;
  const bytes = fromBase64(data);
  return {
    ...rest,
    handle: await blobs.put({ mediaType: part.mediaType, data: bytes }),
    size: bytes.length,
  };
}

/** Entries as they are sent, by stored entry: a wire serializes each of them once. */
const restoredEntries = new WeakMap<Entry, AssistantEntry>();
const withoutExpiredFiles = new WeakMap<Entry, Entry>();

/** Adds the bytes of media that a provider takes back, and removes references to files that have expired. */
export function restoreMedia(
  history: readonly Entry[],
  { blobs, clock }: Pick<Io, "blobs" | "clock">,
): Promise<readonly Entry[]> {
  const now = clock.now();
  return Promise.all(
    history.map((entry) => {
      if (entry.type === "assistant") return restoreEntry(entry, blobs);
      if (!listMedia(entry).some((part) => isExpired(part, now))) return entry;
      const content = toParts(entry).map((part) => (isExpired(part, now) ? withoutFile(part) : part));
      const known = withoutExpiredFiles.get(entry) ?? ({ ...entry, content } as Entry);
      withoutExpiredFiles.set(entry, known);
      return known;
    }),
  );
}

async function restoreEntry(entry: AssistantEntry, blobs: Blobs): Promise<AssistantEntry> {
  if (!entry.parts.some(isReplayed)) return entry;
  const known = restoredEntries.get(entry);
  if (known) return known;
  const parts = await Promise.all(entry.parts.map((part) => restorePart(part, blobs)));
  const restored = { ...entry, parts };
  restoredEntries.set(entry, restored);
  return restored;
}

function isReplayed(part: AssistantPart): boolean {
  return part.type === "media" && part.opaque !== undefined && part.data === undefined;
}

async function restorePart(part: AssistantPart, blobs: Blobs): Promise<AssistantPart> {
  if (part.type !== "media" || !isReplayed(part) || part.handle === undefined) return part;
  const blob = await blobs.get(part.handle);
  return blob && typeof blob.data !== "string" ? { ...part, data: toBase64(blob.data) } : part;
}

function isExpired(part: Part, now: number): boolean {
  return part.type !== "text" && part.file?.expiresAt !== undefined && part.file.expiresAt <= now;
}

function withoutFile(part: Part): Part {
  if (part.type === "text") return part;
  const { file: _, ...rest } = part;
  return rest;
}

function toParts(entry: Entry): readonly Part[] {
  const content = entry.type === "user" || entry.type === "result" ? entry.content : [];
  return typeof content === "string" ? [] : content;
}

function listMedia(entry: Entry): readonly MediaPart[] {
  return toParts(entry).filter((part) => part.type !== "text");
}

/** Warns of media in the history that the model cannot use. */
export function findIgnoredMedia(history: readonly Entry[], model: Model): FactBody | undefined {
  const ignored = history.flatMap(listMedia).filter((part) => model.acceptsMedia?.(part) === false);
  if (ignored.length === 0) return undefined;
  const placeholders = [...new Set(ignored.map(formatPlaceholder))].join(", ");
  const message = `The model ${model.id} cannot use some of the media in this conversation. It got these texts instead: ${placeholders}.`;
  return { type: "warning", code: "media_ignored", message };
}
