// Finds test titles in source text without running the tests: a title is the string literal after `it(`, `test(` or
// `describe(`, or after the table of `it.each(…)`.

const opening = /(?<![\w.$])(?:it|test|describe)((?:\.\w+)*)\s*(?:<[^(`]*>)?(?=[(`])/g;
const quotes = "\"'`";

/** A test or a group of tests, and where it starts in the source. */
export type TitledTest = { readonly title: string; readonly start: number; readonly isGroup: boolean };

/** Returns the titles in source order, without skipped and todo tests. */
export function findTitles(source: string): string[] {
  return findTests(source).map(({ title }) => title);
}

/** Like `findTitles`, with positions. */
export function findTests(source: string): TitledTest[] {
  const tests: TitledTest[] = [];
  for (const match of source.matchAll(opening)) {
    const [before, modifiers = ""] = [getLineBefore(source, match.index), match[1]];
    if (isQuotedOrComment(before) || /\.(?:skip|todo)\b/.test(modifiers)) continue;
    let at = match.index + match[0].length;
    if (/\.(?:each|for|skipIf|runIf)$/.test(modifiers)) at = skipSpace(source, skipGroup(source, at));
    if (source[at] !== "(") continue;
    const title = readLiteral(source, skipSpace(source, at + 1));
    const isGroup = match[0].startsWith("describe");
    if (title !== undefined) tests.push({ title, start: match.index, isGroup });
  }
  return tests;
}

function getLineBefore(source: string, index: number): string {
  return source.slice(source.lastIndexOf("\n", index - 1) + 1, index);
}

/** The tests of this scanner contain tests in quotes. */
function isQuotedOrComment(before: string): boolean {
  return /["'`]|\/\/|^\s*\/?\*/.test(before);
}

function skipSpace(source: string, from: number): number {
  let at = from;
  while (/\s/.test(source[at] ?? "")) at += 1;
  return at;
}

/** Returns the index after the bracket group or template that starts at `from`. */
function skipGroup(source: string, from: number): number {
  let depth = 0;
  for (let at = from; at < source.length; at += 1) {
    const char = source[at] ?? "";
    if (quotes.includes(char)) at = findLiteralEnd(source, at);
    else if (char === "(") depth += 1;
    else if (char === ")") depth -= 1;
    if (depth === 0) return at + 1;
  }
  return source.length;
}

/** Returns the index of the closing quote. */
function findLiteralEnd(source: string, from: number): number {
  let at = from + 1;
  while (at < source.length && source[at] !== source[from]) at += source[at] === "\\" ? 2 : 1;
  return at;
}

function readLiteral(source: string, from: number): string | undefined {
  if (!quotes.includes(source[from] ?? " ")) return undefined;
  return source.slice(from + 1, findLiteralEnd(source, from)).replace(/\\(.)/gs, "$1");
}
