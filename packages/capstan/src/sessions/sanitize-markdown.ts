import { escapeControls } from "../base/escape-text.ts";

/** Returns the text on one line, with all Markdown and HTML characters escaped. */
export function escapeMarkdown(text: string): string {
  return toEntities(escapeControls(text).replaceAll(/\s+/g, " ").trim());
}

// Entities instead of backslashes: they also work inside HTML.
function toEntities(text: string): string {
  return text.replaceAll(/[&<>"'`*_~[\]\\|#!]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * Makes untrusted Markdown safe to embed. Headings, lists, links and code stay. HTML is shown as text, images become
 * links, and script URLs are disabled. Code is left unchanged only in fences at the start of a line, where all Markdown
 * parsers agree that it is code.
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
  if (fence !== undefined) safe.push(fence); // closes the fence, or everything after it would be code
  return safe.join("\n");
}

function closesFence(line: string, fence: string): boolean {
  const marks = /^ {0,3}(`+|~+)[ \t]*$/.exec(line)?.[1];
  return marks !== undefined && marks[0] === fence[0] && marks.length >= fence.length;
}

const inlineCode = /(?<!`)(`+)(?!`)(.*?[^`])\1(?!`)/g;
/** The search for inline code is not linear, so very long lines are escaped without it. */
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

/** Emits code with special characters as an HTML element, so that it stays text however the backticks pair up. */
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
