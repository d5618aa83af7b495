/** The text under one heading. Long sections are split into several parts. */
export type Section = {
  /** Unique in the document: the heading as a link anchor, with a number from the second part. */
  readonly anchor: string;
  readonly heading: string;
  readonly text: string;
};

const maxPartLength = 1500;
const maxHeadingLength = 300;
/** Skips the patterns on longer (minified) lines, where they are slow. */
const maxLineLength = 20_000;

/** Splits Markdown into sections of plain text, in order. A text without headings is one section. */
export function splitSections(markdown: string): readonly Section[] {
  const anchorCounts = new Map<string, number>();
  return splitByHeading(markdown).flatMap(({ heading, lines }) =>
    mergeBlocks(toPlainBlocks(lines)).map((text) => {
      const base = toAnchor(heading);
      const count = (anchorCounts.get(base) ?? 0) + 1;
      anchorCounts.set(base, count);
      return { anchor: count === 1 ? base : `${base}~${count}`, heading, text };
    }),
  );
}

type HeadedLines = { readonly heading: string; readonly lines: string[] };

function splitByHeading(markdown: string): readonly HeadedLines[] {
  const found: HeadedLines[] = [{ heading: "", lines: [] }];
  let fence = "";
  for (const line of markdown.replace(/<!--[\s\S]*?(?:-->|$)/g, "").split(/\r?\n/)) {
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? "";
    if (fence) {
      if (mark.startsWith(fence)) fence = "";
    } else if (mark) fence = mark;
    else {
      const heading = /^#{1,6}\s+(.+?)[\s#]*$/.exec(line.slice(0, maxHeadingLength))?.[1];
      if (heading !== undefined) {
        found.push({ heading: stripInline(heading), lines: [] });
        continue;
      }
    }
    found.at(-1)?.lines.push(line);
  }
  return found;
}

/** Joins each paragraph to one line, keeps lists and code, and drops images, tags and link targets. */
function toPlainBlocks(lines: readonly string[]): readonly string[] {
  const blocks: string[] = [];
  let block: string[] = [];
  let isCode = false;
  const close = () => {
    const text = (isCode ? block : unwrapLines(block)).join("\n").trim();
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

function unwrapLines(lines: readonly string[]): readonly string[] {
  const joined: string[] = [];
  for (const line of lines) {
    const startsNewLine = joined.length === 0 || /^\s*(?:[-*+|>]|\d+[.)])\s|^\s*\|/.test(line);
    if (startsNewLine) joined.push(line.trimEnd());
    else joined.push(`${joined.pop()} ${line.trim()}`);
  }
  return joined.map(stripInline).filter((line) => line.trim() !== "");
}

function stripInline(text: string): string {
  if (text.length > maxLineLength) return text;
  // No pattern backtracks far: untrusted text could otherwise block the process.
  return text
    .replace(/!\[[^[\]]*\](?:\((?:[^()]|\([^()]*\))*\)|\[[^[\]]*\])/g, "")
    .replace(/\[([^[\]]*)\](?:\((?:[^()]|\([^()]*\))*\)|\[[^[\]]+\])/g, "$1")
    .replace(/<\/?[a-z][^<>]*>/gi, "")
    .replace(/&nbsp;/g, " ")
    .replace(/\*\*([^*]+)\*\*/g, "$1")
    .trimEnd();
}

function mergeBlocks(blocks: readonly string[]): readonly string[] {
  const parts: string[] = [];
  for (const block of blocks.flatMap(splitBlock)) {
    const last = parts.at(-1);
    if (last !== undefined && last.length + block.length < maxPartLength)
      parts[parts.length - 1] = `${last}\n\n${block}`;
    else parts.push(block);
  }
  return parts;
}

function splitBlock(block: string): readonly string[] {
  if (block.length <= maxPartLength) return [block];
  const pieces: string[] = [];
  for (let rest = block; rest !== ""; ) {
    const lineEnd = rest.length > maxPartLength ? rest.lastIndexOf("\n", maxPartLength) : rest.length;
    const end = lineEnd > 0 ? lineEnd : maxPartLength;
    pieces.push(rest.slice(0, end).toWellFormed());
    rest = rest.slice(end).replace(/^\n/, "");
  }
  return pieces;
}

function toAnchor(heading: string): string {
  return (
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replace(/\s+/g, "-")
      .slice(0, 80) || "top"
  );
}
