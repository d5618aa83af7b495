import type { Json } from "../json.ts";
import { toLimitedJson } from "./serialise.ts";
import { formatNumber } from "./text-within.ts";

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

/**
 * JSON text of at most `most` characters, always valid. When the whole does not fit, it has the beginning, each array,
 * object and text in it says how much is missing, and the top level names the handle. Where not even that fits it is
 * `null`, `""` or `0`.
 */
export function truncateJson(
  value: Json,
  most: number,
  handle?: string,
): { readonly text: string; readonly cut: boolean } {
  const whole = JSON.stringify(value);
  if (whole.length <= most) return { text: whole, cut: false };
  const note = handle === undefined ? "" : formatReadHint(handle);
  const { json, isCut } = toLimitedJson(value, { characters: most, note });
  return { text: JSON.stringify(json), cut: isCut };
}

function formatReadHint(handle: string): string {
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
