type Part = { readonly text: string; readonly isCited: boolean };

/** Splits the text at cited passages and merges overlaps. Whitespace may differ from the quote. */
export function splitCitedParts(text: string, cited: readonly string[]): readonly Part[] {
  const ranges = cited.flatMap((quote) => findQuotes(text, quote)).sort((left, right) => left[0] - right[0]);
  const parts: Part[] = [];
  let end = 0;
  for (const [from, to] of ranges) {
    if (to <= end) continue;
    const start = Math.max(from, end);
    if (start > end) parts.push({ text: text.slice(end, start), isCited: false });
    parts.push({ text: text.slice(start, to), isCited: true });
    end = to;
  }
  if (end < text.length) parts.push({ text: text.slice(end), isCited: false });
  return parts;
}

/** Finds a quote in a text, whatever its spaces. */
export function findQuotes(text: string, quote: string): [number, number][] {
  const pieces = quote.trim().split(/\s+/).filter(Boolean).slice(0, 400);
  if (pieces.length === 0) return [];
  const pattern = pieces.map((piece) => piece.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("\\s+");
  // A single word matches at the start of a word only: not the "valid" in "invalid".
  const isWord = pieces.length === 1 && /^[\p{L}\p{N}]+$/u.test(quote.trim());
  const expression = isWord ? `(?<![\\p{L}\\p{N}])${pattern}[\\p{L}\\p{N}]*` : pattern;
  return [...text.matchAll(new RegExp(expression, "giu"))].map((match) => [
    match.index,
    match.index + match[0].length,
  ]);
}
