/**
 * Returns the text if it has at most `maxCharacters`, else its beginning and end with a note between them: how much is
 * missing and, with `readHint`, how to read it. Never exceeds the limit and never splits a surrogate pair.
 */
export function truncateText(text: string, maxCharacters: number, readHint = ""): string {
  if (text.length <= maxCharacters) return text;
  const limit = maxCharacters > 0 ? Math.floor(maxCharacters) : 0;
  const notes = readHint === "" ? [""] : [`; ${readHint}`, ""];
  for (const note of notes) {
    const formatMark = (missing: number) => `\n… (${formatNumber(missing)} characters left out${note}) …\n`;
    const kept = limit - formatMark(text.length).length;
    if (kept < 0) continue;
    const headEnd = alignEnd(text, Math.ceil(kept / 2));
    const tailStart = alignStart(text, text.length - Math.floor(kept / 2));
    const cut = text.slice(0, headEnd) + formatMark(tailStart - headEnd) + text.slice(tailStart);
    return copyText(cut);
  }
  return limit === 0 ? "" : copyText(`${text.slice(0, alignEnd(text, limit - 1))}…`);
}

function alignEnd(text: string, end: number): number {
  return splitsPair(text, end) ? end - 1 : end;
}

function alignStart(text: string, start: number): number {
  return splitsPair(text, start) ? start + 1 : start;
}

function splitsPair(text: string, at: number): boolean {
  return at > 0 && (text.codePointAt(at - 1) ?? 0) > 0xffff;
}

/** Copies a slice, so that it does not keep the huge text it came from in memory. */
function copyText(text: string): string {
  return text.toWellFormed();
}

/** Truncates a text so that its JSON has at most `limit` characters; undefined if not even the note fits. */
export function truncateToJsonLength(
  text: string,
  limit: number,
  note = "",
): { readonly text: string; readonly isCut: boolean } | undefined {
  if (text.length + 2 <= limit) {
    const whole = text.toWellFormed();
    if (JSON.stringify(whole).length <= limit) return { text: whole, isCut: false };
  }
  const formatEnding = (missing: number) =>
    `… (${formatNumber(missing)} more characters${note && `; ${note}`})`;
  const textLimit = limit - JSON.stringify(formatEnding(text.length)).length;
  if (textLimit < 0) return undefined;
  const end = findCut(text, textLimit);
  // `toWellFormed` copies, so that the slice does not keep a huge text in memory.
  return { text: (text.slice(0, end) + formatEnding(text.length - end)).toWellFormed(), isCut: true };
}

/** Returns the end of the longest prefix that takes at most `limit` characters inside a JSON string. */
function findCut(text: string, limit: number): number {
  let end = 0;
  let remaining = limit;
  while (end < text.length) {
    const units = (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
    remaining -= units === 2 ? 2 : countEscaped(text.charCodeAt(end));
    if (remaining < 0) break;
    end += units;
  }
  return end;
}

function countEscaped(code: number): number {
  if (code === 0x22 || code === 0x5c) return 2;
  if (code >= 0x20) return 1;
  const hasShortEscape = code >= 8 && code <= 13 && code !== 11;
  return hasShortEscape ? 2 : 6;
}

/** Formats 12345 as "12,345". */
export function formatNumber(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}
