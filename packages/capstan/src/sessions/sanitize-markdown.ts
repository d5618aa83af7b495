import { escapeControls } from "../escape-text.ts";

/** One line of text in which nothing is Markdown or HTML. */
export function escapeMarkdown(text: string): string {
  return toEntities(escapeControls(text).replaceAll(/\s+/g, " ").trim());
}

// Entities, not backslashes: they are inert also inside HTML.
function toEntities(text: string): string {
  return text.replaceAll(/[&<>"'`*_~[\]\\|#!]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * Markdown that somebody else wrote, made safe to stand in a page: its headings, lists, links and code stay, HTML is shown
 * as text, pictures become links, and links do not run programs. Code is left alone only where every reader of Markdown
 * agrees that it is code: in a fence at the beginning of a line.
 */
export function sanitizeMarkdown(text: string): string {
  let fence: string | undefined;
  const lines = escapeControls(text).split("\n");
  const safe = lines.map((line) => {
    if (fence !== undefined) {
      if (closesFence(line, fence)) fence = undefined;
      return line;
    }
    fence = /^(`{3,}(?=[^`]*$)|~{3,})/.exec(line)?.[1];
    return fence === undefined ? sanitizeLine(line) : line;
  });
  if (fence !== undefined) safe.push(fence); // else all that follows would be code
  return safe.join("\n");
}

function closesFence(line: string, fence: string): boolean {
  const marks = /^ {0,3}(`+|~+)[ \t]*$/.exec(line)?.[1];
  return marks !== undefined && marks[0] === fence[0] && marks.length >= fence.length;
}

const inlineCode = /(?<!`)(`+)(?!`)(.*?[^`])\1(?!`)/g;
/** Looking for code takes longer than a line is long, and nobody reads such a line. */
const maxScannedLine = 10_000;

function sanitizeLine(line: string): string {
  if (line.length > maxScannedLine) return sanitizeInline(line);
  let safe = "";
  let from = 0;
  for (const { 0: whole, 2: code = "", index } of line.matchAll(inlineCode)) {
    safe += sanitizeInline(line.slice(from, index)) + sanitizeCode(whole, code);
    from = index + whole.length;
  }
  return safe + sanitizeInline(line.slice(from));
}

/** Code with something special in it becomes an element of its own, so that it is text however the backticks pair. */
function sanitizeCode(whole: string, code: string): string {
  return /[<&[\]]/.test(code) ? `<code>${toEntities(code.trim())}</code>` : whole;
}

function sanitizeInline(text: string): string {
  return text
    .replaceAll(/&(?=[#\w])/g, "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll("![", "\\![")
    .replaceAll(/\b(javascript|vbscript|data)(\\?:)/gi, "$1%3A");
}
