import type { DeltaBody } from "../event.ts";
import { type AssistantEntry, type AssistantPart, type Citation, type Entry, getText } from "../history.ts";
import type { Chunk } from "../model.ts";
import type { PartialMessage } from "../state.ts";

/** Length of the end of the text, which the model has to repeat: it shows where the continuation starts. */
const anchorLength = 60;
/** Longest repetition that is recognized if the model repeats something else. */
const maxOverlap = 300;
const minOverlap = 16;

/** Adds the message so far to the history of a request; after the output limit, also a request to continue it. */
export function continueHistory(history: readonly Entry[], partial: PartialMessage): readonly Entry[] {
  const { entry, stopReason } = partial;
  if (stopReason === "pause") return [...history, entry];
  const content =
    "Your last message was cut off at the output limit. Continue it exactly where it stopped. " +
    `Begin with its last words, so that the two parts can be joined: ${JSON.stringify(getAnchor(getText(entry)))}. ` +
    "Add no introduction, and repeat nothing else.";
  return [...history, entry, { type: "user", content }];
}

/** Returns the last words of a text. */
function getAnchor(text: string): string {
  const end = text.trimEnd();
  if (end.length <= anchorLength) return end.trimStart();
  const tail = end.slice(-anchorLength);
  const firstSpace = tail.search(/\s/);
  return (firstSpace >= 0 && firstSpace < anchorLength / 2 ? tail.slice(firstSpace) : tail)
    .trimStart()
    .toWellFormed();
}

/** Removes from the chunks of a continuation what repeats the end of the text so far. */
export function createOverlapFilter({
  entry,
  stopReason,
}: PartialMessage): (chunk: Chunk) => readonly Chunk[] {
  const previousText = getText(entry);
  let held = "";
  let isDecided = stopReason === "pause";
  const release = (): string => {
    const text = isDecided ? held : removeOverlap(previousText, held);
    isDecided = true;
    held = "";
    return text;
  };
  return (chunk) => {
    if (chunk.type === "restart") {
      held = "";
      isDecided = stopReason === "pause";
      return [chunk];
    }
    if (chunk.type === "usage" || (chunk.type === "reasoning" && held === "")) return [chunk];
    if (chunk.type !== "text") {
      const text = release();
      return text === "" ? [chunk] : [{ type: "text", text }, chunk];
    }
    held += chunk.text;
    if (!isDecided && held.length < maxOverlap && chunk.opaque === undefined) return [];
    return [{ ...chunk, text: release() }];
  };
}

/** Returns the part of `text` that is new. White space between the two is kept once. */
export function removeOverlap(previousText: string, text: string): string {
  const anchor = getAnchor(previousText);
  const start = text.trimStart();
  const length = start.startsWith(anchor) ? anchor.length : findOverlap(previousText.trimEnd(), start);
  if (length === 0) return text;
  const rest = start.slice(length);
  return /\s$/.test(previousText) ? rest.trimStart() : rest;
}

/** Returns the length of the longest end of `previousText` with which `text` starts. */
function findOverlap(previousText: string, text: string): number {
  for (let length = Math.min(maxOverlap, previousText.length, text.length); length >= minOverlap; length--)
    if (previousText.endsWith(text.slice(0, length))) return length;
  return 0;
}

/** Joins the parts of a message. A text that the provider has not marked continues the one before it. */
export function joinParts(
  partial: PartialMessage,
  parts: readonly AssistantPart[],
): readonly AssistantPart[] {
  const previous = partial.entry.parts;
  const last = previous.at(-1);
  const [first, ...others] = parts;
  if (last?.type !== "text" || first?.type !== "text" || last.opaque !== undefined)
    return [...previous, ...parts];
  return [...previous.slice(0, -1), { ...first, text: last.text + first.text }, ...others];
}

/** Merges the citations of the message so far with the citations of its continuation. */
export function joinCitations(
  partial: PartialMessage,
  citations: readonly Citation[] = [],
): { readonly citations?: readonly Citation[] } {
  const known = partial.citations;
  const added = citations.filter(({ n }) => !known.some((citation) => citation.n === n));
  return known.length + added.length > 0 ? { citations: [...known, ...added] } : {};
}

/** Lists the deltas of the message so far, for readers that have discarded it. */
export function listPartialDeltas({ parts }: AssistantEntry): DeltaBody[] {
  return parts.flatMap((part): DeltaBody[] => {
    if (part.type === "text") return [{ type: "content_delta", delta: part.text }];
    return part.type === "reasoning" && part.text ? [{ type: "reasoning_delta", delta: part.text }] : [];
  });
}
