// Finds the titles of tests in their source text. A scan of the text is enough, and needs no run: a title is the
// string literal that `it(`, `test(` or `describe(` begins with, or that follows the table of `it.each(…)`.

const opening = /(?<![\w.$])(?:it|test|describe)((?:\.\w+)*)\s*(?:<[^(`]*>)?(?=[(`])/g;
const quotes = "\"'`";

/** Titles in the order of the source. Skipped and promised tests prove nothing, so they are left out. */
export function titlesOf(source: string): string[] {
  const titles: string[] = [];
  for (const match of source.matchAll(opening)) {
    const [before, modifiers = ""] = [lineBefore(source, match.index), match[1]];
    if (isQuotedOrComment(before) || /\.(?:skip|todo)\b/.test(modifiers)) continue;
    let at = match.index + match[0].length;
    if (/\.(?:each|for|skipIf|runIf)$/.test(modifiers)) at = skipSpace(source, skipGroup(source, at));
    if (source[at] !== "(") continue;
    const title = literalAt(source, skipSpace(source, at + 1));
    if (title !== undefined) titles.push(title);
  }
  return titles;
}

function lineBefore(source: string, index: number): string {
  return source.slice(source.lastIndexOf("\n", index - 1) + 1, index);
}

/** Tests of this very scan contain tests in quotes. */
function isQuotedOrComment(before: string): boolean {
  return /["'`]|\/\/|^\s*\/?\*/.test(before);
}

function skipSpace(source: string, from: number): number {
  let at = from;
  while (/\s/.test(source[at] ?? "")) at += 1;
  return at;
}

/** The index after the group of brackets, or the template, that begins at `from`. */
function skipGroup(source: string, from: number): number {
  let depth = 0;
  for (let at = from; at < source.length; at += 1) {
    const char = source[at] ?? "";
    if (quotes.includes(char)) at = endOfLiteral(source, at);
    else if (char === "(") depth += 1;
    else if (char === ")") depth -= 1;
    if (depth === 0) return at + 1;
  }
  return source.length;
}

/** The index of the closing quote. */
function endOfLiteral(source: string, from: number): number {
  let at = from + 1;
  while (at < source.length && source[at] !== source[from]) at += source[at] === "\\" ? 2 : 1;
  return at;
}

function literalAt(source: string, from: number): string | undefined {
  if (!quotes.includes(source[from] ?? " ")) return undefined;
  return source.slice(from + 1, endOfLiteral(source, from)).replace(/\\(.)/gs, "$1");
}
