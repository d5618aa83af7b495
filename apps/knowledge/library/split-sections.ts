/** A part of a document under one heading. A long one comes in several parts. */
export type Section = {
  /** Within its document: the heading as a link would have it, with a number from the second part on. */
  readonly anchor: string;
  readonly heading: string;
  readonly text: string;
};

const longestPart = 1500;
const longestHeading = 300;
/** Patterns get slow on a minified line, which nobody reads anyway. */
const longestLine = 20_000;

/** The sections of a Markdown text, in order, as plain to read as can be; a text without headings is one section. */
export function splitSections(markdown: string): readonly Section[] {
  const taken = new Map<string, number>();
  return headed(markdown).flatMap(({ heading, lines }) =>
    partsOf(plainBlocks(lines)).map((text) => {
      const base = anchorOf(heading);
      const count = (taken.get(base) ?? 0) + 1;
      taken.set(base, count);
      return { anchor: count === 1 ? base : `${base}~${count}`, heading, text };
    }),
  );
}

type Headed = { readonly heading: string; readonly lines: string[] };

function headed(markdown: string): readonly Headed[] {
  const found: Headed[] = [{ heading: "", lines: [] }];
  let fence = "";
  for (const line of markdown.replace(/<!--[\s\S]*?(?:-->|$)/g, "").split(/\r?\n/)) {
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? "";
    if (fence) {
      if (mark.startsWith(fence)) fence = "";
    } else if (mark) fence = mark;
    else {
      const heading = /^#{1,6}\s+(.+?)[\s#]*$/.exec(line.slice(0, longestHeading))?.[1];
      if (heading !== undefined) {
        found.push({ heading: inline(heading), lines: [] });
        continue;
      }
    }
    found.at(-1)?.lines.push(line);
  }
  return found;
}

/** Paragraphs on one line each, lists and code as they are, without pictures, tags and addresses. */
function plainBlocks(lines: readonly string[]): readonly string[] {
  const blocks: string[] = [];
  let block: string[] = [];
  let isCode = false;
  const close = () => {
    const text = (isCode ? block : unwrapped(block)).join("\n").trim();
    if (/[\p{L}\p{N}]/u.test(text)) blocks.push(text);
    block = [];
  };
  for (const line of lines) {
    const isFence = /^\s*(?:`{3,}|~{3,})/.test(line);
    if (isFence && !isCode) close();
    if (isFence || isCode) block.push(line);
    else if (line.trim() === "") close();
    else if (!/^\s*\[[^\]]+\]:\s/.test(line)) block.push(line);
    if (isFence && isCode) close();
    if (isFence) isCode = !isCode;
  }
  close();
  return blocks;
}

function unwrapped(lines: readonly string[]): readonly string[] {
  const joined: string[] = [];
  for (const line of lines) {
    const startsAnew = joined.length === 0 || /^\s*(?:[-*+|>]|\d+[.)])\s|^\s*\|/.test(line);
    if (startsAnew) joined.push(line.trimEnd());
    else joined.push(`${joined.pop()} ${line.trim()}`);
  }
  return joined.map(inline).filter((line) => line.trim() !== "");
}

function inline(text: string): string {
  if (text.length > longestLine) return text;
  // None of these looks far ahead: somebody may have written a text for which that takes for ever.
  return text
    .replace(/!\[[^[\]]*\](?:\((?:[^()]|\([^()]*\))*\)|\[[^[\]]*\])/g, "")
    .replace(/\[([^[\]]*)\](?:\((?:[^()]|\([^()]*\))*\)|\[[^[\]]+\])/g, "$1")
    .replace(/<\/?[a-z][^<>]*>/gi, "")
    .replace(/&nbsp;/g, " ")
    .replace(/\*\*([^*]+)\*\*/g, "$1")
    .trimEnd();
}

function partsOf(blocks: readonly string[]): readonly string[] {
  const parts: string[] = [];
  for (const block of blocks.flatMap(cut)) {
    const last = parts.at(-1);
    if (last !== undefined && last.length + block.length < longestPart)
      parts[parts.length - 1] = `${last}\n\n${block}`;
    else parts.push(block);
  }
  return parts;
}

function cut(block: string): readonly string[] {
  if (block.length <= longestPart) return [block];
  const pieces: string[] = [];
  for (let rest = block; rest !== ""; ) {
    const lineEnd = rest.length > longestPart ? rest.lastIndexOf("\n", longestPart) : rest.length;
    const end = lineEnd > 0 ? lineEnd : longestPart;
    pieces.push(rest.slice(0, end).toWellFormed());
    rest = rest.slice(end).replace(/^\n/, "");
  }
  return pieces;
}

function anchorOf(heading: string): string {
  return (
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replace(/\s+/g, "-")
      .slice(0, 80) || "top"
  );
}
