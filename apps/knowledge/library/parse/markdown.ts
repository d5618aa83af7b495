import { buildSections } from "./build-sections.ts";
import { decodeText } from "./decode-text.ts";
import type { ParsedDocument } from "./parsed-document.ts";

const maxHeadingLength = 300;
/** Skips the patterns on longer (minified) lines, where they are slow. */
const maxLineLength = 20_000;

export async function parse(bytes: Uint8Array): Promise<ParsedDocument> {
  return parseMarkdown(decodeText(bytes));
}

/** Splits Markdown into sections of plain text, by heading. */
export function parseMarkdown(markdown: string): ParsedDocument {
  const chapters = splitByHeading(markdown).map(({ heading, lines }) => ({
    heading,
    blocks: toPlainBlocks(lines),
  }));
  return { sections: buildSections(chapters, { isLinkedByText: true }) };
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
