import { visible } from "../visible.ts";

// Unseen characters that ordinary text is written with: line breaks and tabs, spaces that do not break, and the joiners
// inside emoji and of scripts that need them. They cannot hide or turn round anything.
const ordinary =
  /(\n|\t|\u00a0|\u202f|(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)\u200d(?=\p{Extended_Pictographic})|(?<=[\p{Extended_Pictographic}\d#*])\ufe0f|(?<=[\p{L}\p{M}])[\u200c\u200d](?=[\p{L}\p{M}]))/u;

/** A text for people to read: controls, escape sequences and marks of direction are written out. */
export function seen(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .split(ordinary)
    .map((piece, index) => (index % 2 === 1 ? piece : visible(piece)))
    .join("");
}
