// The beginning of a call, up to the first character of its arguments. A decision on a text holds for all that may
// follow it, which is what makes the result independent of how the text was cut.

export const callMarker = "TOOL_CALL:";
const argumentsMarker = "ARGUMENTS:";

const longestName = 200;
const longestGap = 64;

export type CallHead = {
  readonly name: string;
  /** Where the arguments begin. */
  readonly valueAt: number;
  /** They begin as a list or an object does. Else they are what is left of the line. */
  readonly isJson: boolean;
  readonly isFenced: boolean;
};

/** `text` begins with a call's marker. Only an offered tool may have arguments that are not JSON: to be refused. */
export function readHead(text: string, offered: ReadonlySet<string>): CallHead | "text" | "unfinished" {
  const newline = text.indexOf("\n");
  if ((newline < 0 ? text.length : newline) > longestName) return "text";
  if (newline < 0) return "unfinished";
  const name = nameOf(text.slice(0, newline), offered);
  if (name === undefined) return "text";
  const markerAt = afterGap(text, newline + 1);
  if (typeof markerAt !== "number") return markerAt;
  const marker = text.slice(markerAt, markerAt + argumentsMarker.length);
  if (marker !== argumentsMarker) return argumentsMarker.startsWith(marker) ? "unfinished" : "text";
  const from = markerAt + argumentsMarker.length;
  const value = afterGap(text, from);
  if (typeof value !== "number") return value;
  const isOnNewLine = text.slice(from, value).includes("\n");
  const otherwise = { name, valueAt: value, isJson: false, isFenced: false };
  return jsonHead(text, value, name) ?? (offered.has(name) && !isOnNewLine ? otherwise : "text");
}

/** A call that the end of the answer cut off; undefined if that is no tool's name. `said` is never JSON. */
export function readUnfinishedHead(
  text: string,
  offered: ReadonlySet<string>,
): { readonly name: string; readonly said: string } | undefined {
  const [line = "", ...after] = text.split("\n");
  const name = nameOf(line, offered);
  if (name === undefined || !offered.has(name)) return undefined;
  const said = after.join("\n").trim();
  // Empty arguments would be taken for `{}`, and the call would run.
  return {
    name,
    said: (said.startsWith(argumentsMarker) && said.slice(argumentsMarker.length).trim()) || "(missing)",
  };
}

/** One word, or the name of a tool whatever it looks like. Models like to put names in quotes. */
function nameOf(line: string, offered: ReadonlySet<string>): string | undefined {
  const name = line.slice(line.indexOf(callMarker) + callMarker.length).trim();
  if (offered.has(name)) return name;
  const bare = name.replace(/^["'`*]+|["'`*]+$/g, "");
  if (offered.has(bare)) return bare;
  return /^\S+$/.test(name) ? name : undefined;
}

function afterGap(text: string, from: number): number | "text" | "unfinished" {
  let at = from;
  while (at < text.length && /\s/.test(text.charAt(at))) at++;
  if (at - from > longestGap) return "text";
  return at < text.length ? at : "unfinished";
}

function jsonHead(text: string, at: number, name: string): CallHead | "unfinished" | undefined {
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

/** At the beginning of a line, also behind what is not seen or only makes them bold. */
const markers = /^(?=(?:[^\S\r\n\u2028\u2029]|[\p{Cf}*_`])*TOOL_(?:RESULT|CALL)[*_`]*[^\S\r\n]*:)/gimu;

/** A page or a person may write our markers, to be taken for a tool: they become a quotation. */
export function quoted(text: string): string {
  return text.replace(markers, "> ");
}
