// The only place that makes untrusted text safe to print. Output of a model, tool, file or server must not move the
// cursor, change colors, write to the clipboard, set the title or hide text. It differs from `escapeInvisible`, which
// shows everything: escape sequences are removed here, and joiners and emoji selectors are kept.

// Removes whole sequences: the colors of a tool's output do not matter. An unterminated sequence is removed up to the end
// of the line.
const sequences =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
  /(?:\x1b\]|\x9d|\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x07\x1b\x9c\r\n]*(?:\x07|\x1b\\|\x9c)?|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b[ -/]*[0-~]?/g;

const lineBreaks = /\r\n|[\r\v\f\u0085\u2028\u2029]/g;

// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
const controls = /[\x00-\x08\x0e-\x1f\x7f-\x9f]/g;

// Direction marks, and tags, which are invisible but read by models.
const directionMarks = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e0fff}]/gu;

// Zero-width characters. Joiners and emoji selectors are kept: scripts need them.
const zeroWidth =
  /[\u00ad\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\u115f\u1160\u3164\uffa0]/g;

const piledMarks = /(\p{M}{6})\p{M}+/gu;

/** Removes or escapes everything a terminal would interpret; keeps line breaks and expands tabs. */
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

/** Like `escapeTerminal`, in one line. */
export function escapeTerminalLine(text: string): string {
  return escapeTerminal(text).replace(/\s+/g, " ").trim();
}

/** Returns the Unicode control picture: ␀ for 0 and so on. */
function toControlPicture(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : toCodePointEscape(character);
}

function toCodePointEscape(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
