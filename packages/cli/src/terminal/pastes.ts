/** Large pasted texts, each shown as one line in a prompt. */
export interface Pastes {
  /** Returns what the editor holds in place of a pasted text: one character for a large one, else the text itself. */
  collapse(text: string): string;
  /** Returns the label of a character that represents a pasted text; undefined for other characters. */
  findLabel(character: string): string | undefined;
  /** Returns a text with its pasted parts in full. */
  expand(text: string): string;
}

const maxLines = 8;
const maxLength = 1_000;

// The end of the last private plane: no font and no script uses these characters.
const firstCode = 0x10_f000;
const capacity = 0xffd;
const placeholders = /[\u{10f000}-\u{10fffd}]/gu;

export function createPastes(): Pastes {
  const texts: string[] = [];
  const findText = (character: string) => texts[(character.codePointAt(0) ?? 0) - firstCode];
  return {
    collapse(text) {
      const plain = text.replace(placeholders, "");
      const isLarge = plain.length > maxLength || countLines(plain) > maxLines;
      if (!isLarge || texts.length >= capacity) return plain;
      texts.push(plain);
      return String.fromCodePoint(firstCode + texts.length - 1);
    },
    findLabel(character) {
      const text = findText(character);
      return text === undefined ? undefined : formatLabel(text);
    },
    expand: (text) => text.replace(placeholders, (character) => findText(character) ?? character),
  };
}

function countLines(text: string): number {
  return text.trimEnd().split("\n").length;
}

function formatLabel(text: string): string {
  const lines = countLines(text);
  return lines > 1 ? `[Pasted ${lines} lines]` : `[Pasted ${text.length} characters]`;
}
