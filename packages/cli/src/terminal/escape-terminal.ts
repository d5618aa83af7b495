// The one place that makes text fit to be printed. Whatever a model, a tool, a file, a server or a title says, it must
// not be able to move the cursor, change colours, write to the clipboard, set a title or hide what is there.

// Whole sequences are dropped, for the colours of a tool's output are of no interest. What is cut off is dropped up to
// where the line ends: its rest is then plain text.
const sequences =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /(?:\x1b\]|\x9d|\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x07\x1b\x9c\r\n]*(?:\x07|\x1b\\|\x9c)?|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b[ -/]*[0-~]?/g;

const lineBreaks = /\r\n|[\r\v\f\u0085\u2028\u2029]/g;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controls = /[\x00-\x08\x0e-\x1f\x7f-\x9f]/g;

// Marks of direction, and tags, which no eye sees and a model reads.
const directionMarks = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e0fff}]/gu;

// Takes no room and says nothing. Joiners and the selectors of emoji stay: scripts need them.
const zeroWidth =
  /[\u00ad\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\u115f\u1160\u3164\uffa0]/g;

const piledMarks = /(\p{M}{6})\p{M}+/gu;

/** The text without anything a terminal obeys; lines and tabs stay lines and spaces. */
export function escapeTerminal(text: string): string {
  return text
    .toWellFormed()
    .replace(sequences, "")
    .replace(lineBreaks, "\n")
    .replace(/\t/g, "    ")
    .replace(controls, toControlPicture)
    .replace(directionMarks, toCodePointEscape)
    .replace(zeroWidth, "")
    .replace(piledMarks, "$1");
}

/** The same, in one line. */
export function escapeTerminalLine(text: string): string {
  return escapeTerminal(text).replace(/\s+/g, " ").trim();
}

/** Controls have pictures: ␀ for 0 and so on. */
function toControlPicture(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : toCodePointEscape(character);
}

function toCodePointEscape(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
