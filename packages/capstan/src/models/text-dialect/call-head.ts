// Parses the head of a call, up to the first character of its arguments. A decision about a prefix holds for any
// continuation, so the result does not depend on how the text is split into chunks.

export const callMarker = "TOOL_CALL:";
const argumentsMarker = "ARGUMENTS:";

const maxNameLength = 200;
const maxGapLength = 64;

export type CallHead = {
  readonly name: string;
  /** Index of the first character of the arguments. */
  readonly valueAt: number;
  /** Whether the arguments start as a JSON object or array; otherwise they are the rest of the line. */
  readonly isJson: boolean;
  readonly isFenced: boolean;
};

/** `text` starts with a call marker. Arguments that are not JSON are accepted for offered tools only, to be rejected later. */
export function readHead(text: string, offered: ReadonlySet<string>): CallHead | "text" | "unfinished" {
  const newline = text.indexOf("\n");
  if ((newline < 0 ? text.length : newline) > maxNameLength) return "text";
  if (newline < 0) return "unfinished";
  const name = parseName(text.slice(0, newline), offered);
  if (name === undefined) return "text";
  const markerAt = skipGap(text, newline + 1);
  if (typeof markerAt !== "number") return markerAt;
  const marker = text.slice(markerAt, markerAt + argumentsMarker.length);
  if (marker !== argumentsMarker) return argumentsMarker.startsWith(marker) ? "unfinished" : "text";
  const from = markerAt + argumentsMarker.length;
  const value = skipGap(text, from);
  if (typeof value !== "number") return value;
  const isOnNewLine = text.slice(from, value).includes("\n");
  const otherwise = { name, valueAt: value, isJson: false, isFenced: false };
  return parseJsonHead(text, value, name) ?? (offered.has(name) && !isOnNewLine ? otherwise : "text");
}

/** Parses a call truncated by the end of the answer; undefined if the name is not a tool. `argumentText` is never valid JSON. */
export function readUnfinishedHead(
  text: string,
  offered: ReadonlySet<string>,
): { readonly name: string; readonly argumentText: string } | undefined {
  const [line = "", ...after] = text.split("\n");
  const name = parseName(line, offered);
  if (name === undefined || !offered.has(name)) return undefined;
  const rest = after.join("\n").trim();
  // Empty arguments would be read as `{}`, and the call would run.
  return {
    name,
    argumentText:
      (rest.startsWith(argumentsMarker) && rest.slice(argumentsMarker.length).trim()) || "(missing)",
  };
}

/** Accepts a single word, or any name of an offered tool. Models tend to quote names. */
function parseName(line: string, offered: ReadonlySet<string>): string | undefined {
  const name = line.slice(line.indexOf(callMarker) + callMarker.length).trim();
  if (offered.has(name)) return name;
  const bare = name.replace(/^["'`*]+|["'`*]+$/g, "");
  if (offered.has(bare)) return bare;
  return /^\S+$/.test(name) ? name : undefined;
}

function skipGap(text: string, from: number): number | "text" | "unfinished" {
  let at = from;
  while (at < text.length && /\s/.test(text.charAt(at))) at++;
  if (at - from > maxGapLength) return "text";
  return at < text.length ? at : "unfinished";
}

function parseJsonHead(text: string, at: number, name: string): CallHead | "unfinished" | undefined {
  const opening = /[{[]/y;
  opening.lastIndex = at;
  if (opening.test(text)) return { name, valueAt: at, isJson: true, isFenced: false };
  const fence = /`{1,20}/y;
  fence.lastIndex = at;
  const ticks = fence.exec(text)?.[0].length ?? 0;
  if (ticks === 0) return undefined;
  const language = /[\w+-]{0,20}[ \t]{0,8}\r?\n?[ \t]{0,8}/y;
  language.lastIndex = at + ticks;
  const valueAt = at + ticks + (language.exec(text)?.[0].length ?? 0);
  if (valueAt === text.length) return "unfinished";
  opening.lastIndex = valueAt;
  return ticks >= 3 && opening.test(text) ? { name, valueAt, isJson: true, isFenced: true } : undefined;
}

/** Matches markers at the start of a line, also after invisible characters or Markdown emphasis. */
const markers = /^(?=(?:[^\S\r\n\u2028\u2029]|[\p{Cf}*_`])*TOOL_(?:RESULT|CALL)[*_`]*[^\S\r\n]*:)/gimu;

/** Quotes markers in untrusted content, so that it cannot imitate a tool call or result. */
export function quoteMarkers(text: string): string {
  return text.replace(markers, "> ");
}
