// What the eye does not see and a program does: controls, marks of direction, joiners, variation selectors, tags. Line
// breaks and tabs are told as well, for a card shows them as space.
const invisible =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Variation_Selector}]|\u034f|[\u115f\u1160\u17b4\u17b5\u3164\uffa0]/gu;
const spaces = /[^\S \n\t]/gu;

/** The text with everything in it that cannot be seen written out, so that what a person agrees to is what there is. */
export function escapeInvisible(text: string): string {
  return text.replace(invisible, toEscape).replace(spaces, toEscape);
}

function toEscape(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

const maxInputLength = 4000;

/** The arguments of a call as a person is shown them: all of it visible, and what is cut off counted. */
export function formatInput(input: unknown): string {
  const text = JSON.stringify(input, undefined, 2) ?? "";
  const lines = text.split("\n").map(escapeInvisible).join("\n");
  if (lines.length <= maxInputLength) return lines;
  return `${lines.slice(0, maxInputLength)}\n… and ${lines.length - maxInputLength} characters more`;
}

// Unseen characters that ordinary text is written with: line breaks and tabs, spaces that do not break, and the joiners
// inside emoji and of scripts that need them. They cannot hide or turn round anything.
const ordinaryInvisible =
  /(\n|\t|\u00a0|\u202f|(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)\u200d(?=\p{Extended_Pictographic})|(?<=[\p{Extended_Pictographic}\d#*])\ufe0f|(?<=[\p{L}\p{M}])[\u200c\u200d](?=[\p{L}\p{M}]))/u;

/** A text for people to read: controls, escape sequences and marks of direction are written out. */
export function escapeControls(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .split(ordinaryInvisible)
    .map((piece, index) => (index % 2 === 1 ? piece : escapeInvisible(piece)))
    .join("");
}
