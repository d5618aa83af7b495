/** The sentences of a Markdown text that can be quoted: no code, no headings, no rows of links. A table's row is one. */
export function proseOf(markdown: string): string[] {
  return markdown
    .replace(/^ {0,3}(`{3,}|~{3,})[\s\S]*?(?:^ {0,3}\1|$(?![\s\S]))/gmu, "\n")
    .replace(/<!--[\s\S]*?-->/gu, "")
    .split(/\n{2,}|\n(?=\s*(?:[-*+|>#]|\d+\.)\s?)/u)
    .map((block) => tidied(block))
    .filter((block) => !isNavigation(block))
    .flatMap((block) => block.split(/(?<=[.!?])\s+(?=[\p{Lu}\p{N}`“"'([])/u))
    .map((sentence) => sentence.trim())
    .filter((sentence) => /\p{L}{2}.*\s/u.test(sentence));
}

function tidied(block: string): string {
  const plain = block
    .replace(/^\s*(?:[-*+>]|#{1,6}|\d+\.)\s+/gmu, "")
    .replace(/\s+/gu, " ")
    .trim();
  if (!plain.startsWith("|")) return plain;
  const cells = plain.split(/(?<!\\)\|/u).map((cell) => cell.trim());
  return cells.every((cell) => /^:?-*:?$/u.test(cell)) ? "" : cells.filter((cell) => cell !== "").join(": ");
}

/** "Docs • Chat • Blog" leads elsewhere, and says nothing. */
const isNavigation = (block: string): boolean =>
  (block.match(/ [|•·] /gu) ?? []).length >= 2 && !/[.!?]/u.test(block);
