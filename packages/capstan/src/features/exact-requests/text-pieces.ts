/** Media that the session has already: the bytes of a blob, or the base64 in a fact, which may have several. */
export type MediaReference = { readonly blob: string } | { readonly seq: number; readonly index: number };

/** A part of a text: new characters, a copy of `length` characters of the base text from `start`, or media as base64. */
export type TextPiece = string | readonly [start: number, length: number] | MediaReference;

/** Texts are compared in blocks of this length, which is much faster than by character. */
const blockLength = 16_384;
/** Length of the sample that is looked up to find where two texts agree again, and of the shortest copy. */
const sampleLength = 48;
/** How far after a difference samples are taken. */
const sampleOffsets: readonly number[] = [0, 64, 256, 1024, 4096, 16_384, 65_536];
/** After this number of copies the rest is stored as it is: texts that differ everywhere are not worth the search. */
const maxCopies = 32;

/** Describes a text by what it shares with a base. Joining the pieces gives exactly the text. */
export function diffText(base: string, text: string): readonly TextPiece[] {
  const pieces: TextPiece[] = [];
  let [from, at] = [0, 0];
  for (let copies = 0; at < text.length && copies < maxCopies; copies++) {
    const found = findCopy({ base, text, from, at });
    if (!found) break;
    if (found.at > at) pieces.push(text.slice(at, found.at));
    pieces.push([found.from, found.length]);
    from = found.from + found.length;
    at = found.at + found.length;
  }
  if (at < text.length) pieces.push(text.slice(at));
  return pieces;
}

type Search = { readonly base: string; readonly text: string; readonly from: number; readonly at: number };
type Copy = { readonly from: number; readonly at: number; readonly length: number };

/** Finds the next stretch that both texts have. */
function findCopy({ base, text, from, at }: Search): Copy | undefined {
  const length = countEqual(base, text, { from, at });
  if (length >= sampleLength) return { from, at, length };
  for (const offset of sampleOffsets) {
    const place = findPlace({ base, text, from, at }, offset);
    if (!place) continue;
    // The agreement may begin before the sample.
    let before = 0;
    while (
      place.from - before > from &&
      place.at - before > at &&
      base[place.from - before - 1] === text[place.at - before - 1]
    )
      before += 1;
    const start = { from: place.from - before, at: place.at - before };
    return { ...start, length: countEqual(base, text, start) };
  }
  return undefined;
}

/** Looks a sample of one text up in the other: in the text for what was inserted, in the base for what was removed. */
function findPlace({ base, text, from, at }: Search, offset: number): Omit<Copy, "length"> | undefined {
  const inText = findSample({ source: base, start: from + offset }, text, at);
  if (inText >= 0) return { from: from + offset, at: inText };
  const inBase = findSample({ source: text, start: at + offset }, base, from);
  return inBase >= 0 ? { from: inBase, at: at + offset } : undefined;
}

function findSample(
  { source, start }: { readonly source: string; readonly start: number },
  text: string,
  at: number,
): number {
  if (start + sampleLength > source.length) return -1;
  return text.indexOf(source.slice(start, start + sampleLength), at);
}

/** Counts the equal characters of two texts from these positions. */
function countEqual(base: string, text: string, { from, at }: Omit<Copy, "length">): number {
  const limit = Math.min(base.length - from, text.length - at);
  const isEqual = (start: number, length: number) =>
    base.slice(from + start, from + start + length) === text.slice(at + start, at + start + length);
  let equal = 0;
  while (equal < limit && isEqual(equal, Math.min(blockLength, limit - equal)))
    equal += Math.min(blockLength, limit - equal);
  // The difference is in the next block: halve it.
  let rest = Math.min(blockLength, limit - equal);
  while (rest > 0) {
    const half = Math.ceil(rest / 2);
    if (isEqual(equal, half)) {
      equal += half;
      rest -= half;
    } else rest = half === rest ? 0 : half;
  }
  return equal;
}

/** Counts the characters that are stored for the pieces. */
export function measurePieces(pieces: readonly TextPiece[]): number {
  return pieces.reduce((sum, piece) => sum + (typeof piece === "string" ? piece.length : 16), 0);
}

/** A text as slices of other texts, so that a long chain of bases is not copied at each step. */
export type TextLayout = readonly Slice[];
type Slice = { readonly source: string; readonly start: number; readonly length: number };

/** Resolves the pieces of a text. `loadMedia` returns base64. */
export async function resolvePieces(
  pieces: readonly TextPiece[],
  base: TextLayout,
  loadMedia: (reference: MediaReference) => Promise<string>,
): Promise<TextLayout> {
  const layout: Slice[] = [];
  for (const piece of pieces) {
    if (isCopy(piece)) addSlices(layout, base, piece);
    else {
      const source = typeof piece === "string" ? piece : await loadMedia(piece);
      layout.push({ source, start: 0, length: source.length });
    }
  }
  return layout;
}

function isCopy(piece: TextPiece): piece is readonly [number, number] {
  return Array.isArray(piece);
}

function addSlices(layout: Slice[], base: TextLayout, [start, length]: readonly [number, number]): void {
  let skipped = 0;
  const end = start + length;
  for (const slice of base) {
    const first = Math.max(start, skipped);
    const last = Math.min(end, skipped + slice.length);
    if (first < last)
      layout.push({
        source: slice.source,
        start: slice.start + first - skipped,
        length: last - first,
      });
    skipped += slice.length;
    if (skipped >= end) return;
  }
}

export function joinLayout(layout: TextLayout): string {
  return layout.map(({ source, start, length }) => source.slice(start, start + length)).join("");
}
