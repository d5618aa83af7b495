// Renders Markdown as inert HTML: a fixed set of tags without attributes, no links and no images. Hand-written, because
// every browser bundle and published package would carry a parser, and because nothing of the text may become markup.
import { escapeHtml } from "./html-text.ts";

/** Renders a citation such as `[1]`; undefined if nothing has this number. */
export type RenderCitation = (number: number) => string | undefined;

const maxDepth = 6;
/** Longer lines are not searched for emphasis. */
const maxInlineLength = 20_000;

/** Renders a text. Whatever is not recognized stays text. */
export function renderMarkdown(text: string, renderCitation: RenderCitation = () => undefined): string {
  return renderBlocks(text.split("\n"), 0, (line) => renderInline(line, renderCitation));
}

type Inline = (text: string) => string;
/** The HTML of a block, and the index of the line after it. */
type Block = { readonly html: string; readonly next: number };
type BlockReader = (lines: readonly string[], at: number, inside: Nesting) => Block | undefined;
type Nesting = { readonly depth: number; readonly inline: Inline };

const readers: readonly BlockReader[] = [
  readFence,
  readHeading,
  readRule,
  readQuote,
  readTable,
  readListBlock,
];

function renderBlocks(lines: readonly string[], depth: number, inline: Inline): string {
  if (depth > maxDepth) return `<p>${inline(lines.join("\n"))}</p>`;
  const blocks: string[] = [];
  let paragraph: string[] = [];
  const endParagraph = () => {
    if (paragraph.length > 0) blocks.push(`<p>${inline(paragraph.join("\n"))}</p>`);
    paragraph = [];
  };
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? "";
    if (line.trim() === "") {
      endParagraph();
      at += 1;
      continue;
    }
    const block = readNextBlock(lines, at, { depth, inline });
    if (block) {
      endParagraph();
      blocks.push(block.html);
      at = block.next;
    } else {
      paragraph.push(line);
      at += 1;
    }
  }
  endParagraph();
  return blocks.join("\n");
}

function readNextBlock(lines: readonly string[], at: number, inside: Nesting): Block | undefined {
  for (const read of readers) {
    const block = read(lines, at, inside);
    if (block) return block;
  }
  return undefined;
}

function readFence(lines: readonly string[], at: number): Block | undefined {
  const [, fence] = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/.exec(lines[at] ?? "") ?? [];
  if (fence === undefined) return undefined;
  let end = at + 1;
  while (end < lines.length && !isFenceEnd(lines[end] ?? "", fence)) end += 1;
  const code = lines.slice(at + 1, end).join("\n");
  return { html: `<pre><code>${escapeHtml(code)}</code></pre>`, next: end + 1 };
}

function isFenceEnd(line: string, fence: string): boolean {
  const marks = line.trim();
  return marks.length >= fence.length && marks === (fence[0] ?? "").repeat(marks.length);
}

function readHeading(lines: readonly string[], at: number, { inline }: Nesting): Block | undefined {
  const [, marks, text] = /^ {0,3}(#{1,6})[ \t]+(.*)$/.exec(lines[at] ?? "") ?? [];
  if (marks === undefined || text === undefined) return undefined;
  // The page has the first two levels.
  const tag = marks.length <= 2 ? "h3" : "h4";
  return { html: `<${tag}>${inline(text)}</${tag}>`, next: at + 1 };
}

function readRule(lines: readonly string[], at: number): Block | undefined {
  const marks = (lines[at] ?? "").replaceAll(/[ \t]/g, "");
  return /^(?:-{3,}|\*{3,}|_{3,})$/.test(marks) ? { html: "<hr>", next: at + 1 } : undefined;
}

function readQuote(lines: readonly string[], at: number, { depth, inline }: Nesting): Block | undefined {
  let end = at;
  while (end < lines.length && /^ {0,3}>/.test(lines[end] ?? "")) end += 1;
  if (end === at) return undefined;
  const inner = lines.slice(at, end).map((line) => line.replace(/^ {0,3}> ?/, ""));
  return { html: `<blockquote>${renderBlocks(inner, depth + 1, inline)}</blockquote>`, next: end };
}

function readTable(lines: readonly string[], at: number, { inline }: Nesting): Block | undefined {
  const [head = "", separator = ""] = [lines[at], lines[at + 1]];
  const isTable =
    head.includes("|") && separator.includes("|") && separator.includes("-") && /^[\s|:-]+$/.test(separator);
  if (!isTable) return undefined;
  let end = at + 2;
  while (end < lines.length && (lines[end] ?? "").includes("|")) end += 1;
  const rows = lines.slice(at + 2, end).map(splitRow);
  return { html: renderTable(splitRow(head), rows, inline), next: end };
}

function splitRow(line: string): readonly string[] {
  const cells = line.trim().split("|");
  if (cells[0] === "") cells.shift();
  if (cells.at(-1) === "") cells.pop();
  return cells.map((cell) => cell.trim());
}

/** Renders a table whose cells are rendered by `renderCell`. */
export function renderTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  renderCell: Inline,
): string {
  const renderRow = (cells: readonly string[], tag: "th" | "td") =>
    `<tr>${head.map((_, index) => `<${tag}>${renderCell(cells[index] ?? "")}</${tag}>`).join("")}</tr>`;
  const body = rows.map((cells) => renderRow(cells, "td")).join("\n");
  return `<div class="table"><table><thead>${renderRow(head, "th")}</thead><tbody>${body}</tbody></table></div>`;
}

const listItem = /^([ \t]*)([-*+]|\d{1,9}[.)])[ \t]+(.*)$/;

function readListBlock(lines: readonly string[], at: number, { depth, inline }: Nesting): Block | undefined {
  const [, indent, marker] = listItem.exec(lines[at] ?? "") ?? [];
  if (indent === undefined || marker === undefined) return undefined;
  const isOrdered = /\d/.test(marker);
  const items: string[][] = [];
  let end = at;
  for (; end < lines.length; end++) {
    const line = lines[end] ?? "";
    const [, ownIndent = "", ownMarker, text] = listItem.exec(line) ?? [];
    const isSibling =
      ownMarker !== undefined && ownIndent.length <= indent.length && /\d/.test(ownMarker) === isOrdered;
    if (isSibling) items.push([text ?? ""]);
    else if (belongsToItem(line, lines[end + 1] ?? "", indent.length))
      items.at(-1)?.push(line.trimStart() === "" ? "" : line.slice(indent.length + 2));
    else break;
  }
  const tag = isOrdered ? "ol" : "ul";
  const html = items.map((item) => `<li>${renderItem(item, depth, inline)}</li>`).join("\n");
  return { html: `<${tag}>${html}</${tag}>`, next: end };
}

/** An indented line, or an empty one before another line of the list. */
function belongsToItem(line: string, nextLine: string, indent: number): boolean {
  const isIndented = (text: string) => /^[ \t]/.test(text.slice(indent)) && text.trim() !== "";
  if (line.trim() !== "") return isIndented(line);
  return isIndented(nextLine) || listItem.test(nextLine);
}

/** An item of one line needs no paragraph. */
function renderItem(lines: readonly string[], depth: number, inline: Inline): string {
  const filled = lines.filter((line) => line.trim() !== "");
  return filled.length === 1 ? inline(filled[0] ?? "") : renderBlocks(lines, depth + 1, inline);
}

/** Code spans first: nothing in them is emphasis. */
function renderInline(text: string, renderCitation: RenderCitation): string {
  if (text.length > maxInlineLength) return escapeHtml(text);
  let html = "";
  let from = 0;
  for (;;) {
    const start = text.indexOf("`", from);
    if (start < 0) break;
    const [marks = ""] = /^`+/.exec(text.slice(start)) ?? [];
    const end = text.indexOf(marks, start + marks.length);
    html += renderEmphasis(text.slice(from, start), renderCitation);
    if (end < 0) {
      html += escapeHtml(marks);
      from = start + marks.length;
      continue;
    }
    html += `<code>${escapeHtml(text.slice(start + marks.length, end).trim())}</code>`;
    from = end + marks.length;
  }
  return html + renderEmphasis(text.slice(from), renderCitation);
}

/** The text is escaped first, so that only the tags added here are tags. Each pattern stops at its own mark. */
function renderEmphasis(text: string, renderCitation: RenderCitation): string {
  return escapeHtml(text)
    .replaceAll(/!?\[([^[\]\n]*)\]\(([^()\s]*)\)/g, (_, label: string, target: string) =>
      label === target || label === "" ? target : `${label} (${target})`,
    )
    .replaceAll(/\[(\d{1,4}(?:, ?\d{1,4}){0,20})\]/g, (whole, numbers: string) => {
      const links = numbers.split(",").map((number) => renderCitation(Number(number)));
      return links.every((link) => link !== undefined) ? links.join("") : whole;
    })
    .replaceAll(/\*\*([^*\n]+)\*\*/g, "<strong>$1</strong>")
    .replaceAll(/(?<![*\w])\*([^*\s][^*\n]*)\*(?![*\w])/g, "<em>$1</em>");
}
