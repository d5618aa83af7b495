/**
 * The text when it has at most `most` characters. Else its beginning and its end, and between them how much was
 * left out and, with a handle, how to read it. Never longer than `most`; never half a surrogate pair.
 */
export function truncateText(text: string, most: number, handle?: string): string {
  if (text.length <= most) return text;
  const room = most > 0 ? Math.floor(most) : 0;
  const notes = handle === undefined ? [""] : [`; ${formatReadHint(handle)}`, ""];
  for (const note of notes) {
    const markOf = (missing: number) => `\n… (${formatNumber(missing)} characters left out${note}) …\n`;
    const kept = room - markOf(text.length).length;
    if (kept < 0) continue;
    const headEnd = alignEnd(text, Math.ceil(kept / 2));
    const tailStart = alignStart(text, text.length - Math.floor(kept / 2));
    const cut = text.slice(0, headEnd) + markOf(tailStart - headEnd) + text.slice(tailStart);
    return copyText(cut);
  }
  return room === 0 ? "" : copyText(`${text.slice(0, alignEnd(text, room - 1))}…`);
}

export function formatReadHint(handle: string): string {
  return `read_result { "handle": ${JSON.stringify(handle)} } has all of it`;
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

/** The same characters, without the huge text that they are a piece of: to look at every one makes a copy of them. */
function copyText(text: string): string {
  return text.toWellFormed();
}

/** The text, or its beginning and how much is missing, so that its JSON has at most `room` characters; or nothing fits. */
export function truncateToJsonLength(
  text: string,
  room: number,
  note = "",
): { readonly text: string; readonly isCut: boolean } | undefined {
  if (text.length + 2 <= room) {
    const whole = text.toWellFormed();
    if (JSON.stringify(whole).length <= room) return { text: whole, isCut: false };
  }
  const formatEnding = (missing: number) =>
    `… (${formatNumber(missing)} more characters${note && `; ${note}`})`;
  const roomForText = room - JSON.stringify(formatEnding(text.length)).length;
  if (roomForText < 0) return undefined;
  const end = findCut(text, roomForText);
  // Joining and then looking at every character makes a copy, so that a huge text is not kept alive by a piece of it.
  return { text: (text.slice(0, end) + formatEnding(text.length - end)).toWellFormed(), isCut: true };
}

/** Where to cut a text so that what is before takes at most `room` characters inside a JSON string. */
function findCut(text: string, room: number): number {
  let end = 0;
  let left = room;
  while (end < text.length) {
    const units = (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
    left -= units === 2 ? 2 : countEscaped(text.charCodeAt(end));
    if (left < 0) break;
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

/** 12345 as "12,345". */
export function formatNumber(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}
