// Controls, direction marks, joiners, tags and unusual spaces. Unlike `escapeInvisible` of the core, which is not part
// of the browser bundle, this keeps line breaks and tabs.
const invisible =
  /(?![\n\t ])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Zs}\p{Variation_Selector}]|\u034f|\u115f|\u1160|\u17b4|\u17b5|\u3164|\uffa0/gu;
// Only what reorders or hides text: many scripts need joiners and direction marks in prose.
const bidiControls =
  /[\u202a-\u202e\u2066-\u2069]|(?<!\p{Extended_Pictographic}[\u{e0020}-\u{e007e}]*)[\u{e0000}-\u{e007f}]/gu;

/** Escapes all invisible characters. For code and addresses. */
export function escapeInvisible(text: string): string {
  return text.replace(invisible, formatEscape);
}

/** Escapes characters that reorder or hide text. For prose. */
export function escapeBidi(text: string): string {
  return text.replace(bidiControls, formatEscape);
}

function formatEscape(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
