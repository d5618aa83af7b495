// Finds the pieces of a text that occur in the arguments of a call, however they are written. Both sides are folded to
// capital letters and digits, and the arguments are also read as URL-encoded text, base64 and hex. Eight consecutive
// characters are a match, and adjoining matches are one piece, so the order of the pieces does not matter. The cost is
// linear in both texts.

import { createLazyPattern } from "../../base/lazy.ts";

/** Shorter matches occur by chance. */
const gramLength = 8;
/** Ordinary words occur by chance in longer matches too. */
const minProseLength = 16;
/** Arguments of a model are shorter; the rest is not searched. */
const maxArgumentLength = 100_000;

/** A match in the original spelling, and folded. */
export type Piece = { readonly text: string; readonly folded: string };

/** All sequences of eight letters and digits in the arguments of a call, in every reading of them. */
export type ArgumentIndex = ReadonlySet<string>;

const getSeparators = createLazyPattern(() => String.raw`[^\p{L}\p{N}]+`, "gu");

/** Reduces a text to what remains after changes of case, accents, spaces and punctuation: capital letters and digits. */
export function foldText(text: string): string {
  return text.normalize("NFKD").toUpperCase().replace(getSeparators(), "");
}

/** Indexes the arguments of a call. Values are joined, so that a text that is split over several of them is found. */
export function indexArguments(input: unknown): ArgumentIndex {
  const index = new Set<string>();
  for (const text of listTexts(input))
    for (const reading of listReadings(text.slice(0, maxArgumentLength))) {
      const folded = foldText(reading);
      for (let start = 0; start + gramLength <= folded.length; start++)
        index.add(folded.slice(start, start + gramLength));
    }
  return index;
}

/** Returns all values as one text and all keys as another. Not recursive, because arguments may be nested deeply. */
function listTexts(input: unknown): readonly [values: string, keys: string] {
  let values = "";
  let keys = "";
  const pending = [input];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value === "string" || typeof value === "number") values += value;
    if (typeof value !== "object" || value === null) continue;
    if (!Array.isArray(value)) keys += Object.keys(value).join("");
    for (const member of Object.values(value).reverse()) pending.push(member);
  }
  return [values, keys];
}

/** Returns a text as it is and decoded. An encoded part may start anywhere, so every offset is tried. */
function listReadings(text: string): readonly string[] {
  const plain = decodePercent(text);
  const base64 = plain
    .replaceAll("-", "+")
    .replaceAll("_", "/")
    .replace(/[^A-Za-z0-9+/]+/g, "");
  const hex = plain.replace(/[\\0]x/gi, "").replace(/[^0-9A-Fa-f]+/g, "");
  return [
    ...(plain === text ? [text] : [text, plain]),
    ...[0, 1, 2, 3].map((offset) => decodeBase64(base64.slice(offset))),
    ...[0, 1].map((offset) => decodeHex(hex.slice(offset))),
  ];
}

function decodePercent(text: string): string {
  return text.replace(/(?:%[0-9A-Fa-f]{2})+/g, (run) => decodeHex(run.replaceAll("%", "")));
}

function decodeHex(digits: string): string {
  const bytes = new Uint8Array(Math.floor(digits.length / 2));
  for (let index = 0; index < bytes.length; index++)
    bytes[index] = Number.parseInt(digits.slice(2 * index, 2 * index + 2), 16);
  return new TextDecoder().decode(bytes);
}

function decodeBase64(text: string): string {
  // One character alone encodes nothing, and `atob` rejects it.
  const complete = text.length % 4 === 1 ? text.slice(0, -1) : text;
  return new TextDecoder().decode(Uint8Array.from(atob(complete), (byte) => byte.charCodeAt(0)));
}

/** Finds the pieces of a text that are in the index and long or unusual enough to say something. */
export function findPieces(text: string, index: ArgumentIndex): readonly Piece[] {
  const folded = foldText(text);
  const spans: [start: number, end: number][] = [];
  for (let start = 0; start + gramLength <= folded.length; start++) {
    if (!index.has(folded.slice(start, start + gramLength))) continue;
    const last = spans.at(-1);
    if (last && start <= last[1]) last[1] = start + gramLength;
    else spans.push([start, start + gramLength]);
  }
  if (spans.length === 0) return [];
  const { starts, ends } = locateFolded(text);
  return spans
    .map(([start, end]) => ({
      text: text.slice(starts[start], ends[end - 1]),
      folded: folded.slice(start, end),
    }))
    .filter(isTelling);
}

const getTellingText = createLazyPattern(() => String.raw`\d.*\d|@|\p{Script=Han}`, "su");

/** Numbers, addresses and names in Chinese characters are telling even when they are short. */
function isTelling({ text, folded }: Piece): boolean {
  return folded.length >= minProseLength || getTellingText().test(text);
}

/** Returns where the original of each folded character starts and ends. Folding works character by character. */
function locateFolded(text: string): {
  readonly starts: readonly number[];
  readonly ends: readonly number[];
} {
  const starts: number[] = [];
  const ends: number[] = [];
  let position = 0;
  for (const character of text) {
    const end = position + character.length;
    for (let count = foldText(character).length; count > 0; count--) {
      starts.push(position);
      ends.push(end);
    }
    position = end;
  }
  return { starts, ends };
}
