// Hand-written instead of marked's lexer: finished blocks go to the scrollback and can never be redrawn, but a lexer for
// complete documents may reinterpret earlier lines when more text arrives (setext headings, loose lists, references).
import { escapeTerminal } from "./escape-terminal.ts";
import { closeOpenMarks, styleInline } from "./markdown-inline.ts";
import { isTableRule, renderTable } from "./markdown-table.ts";
import type { Style } from "./style.ts";
import { breakLines, indentHanging, measureWidth, wrapText } from "./wrap.ts";

/** Renders streamed Markdown as styled lines. */
export interface MarkdownStream {
  /** Adds a piece; returns the lines that are now complete. */
  push(piece: string): string[];
  /** Renders the incomplete block. */
  renderPartial(): string[];
  /** Returns the remaining lines. */
  end(): string[];
}

export type MarkdownOptions = {
  readonly style: Style;
  /** Read for each block, so that resizing takes effect. */
  columns(): number;
};

type Block = {
  readonly type: "paragraph" | "heading" | "item" | "quote" | "table" | "rule" | "fence";
  readonly lines: string[];
  /** Closing mark of a fence. */
  readonly mark?: string;
  readonly language?: string;
};

const itemPattern = /^(\s*)([-*+•]|\d{1,9}[.)])\s+(.*)$/;
const fencePattern = /^ {0,3}(`{3,}|~{3,})\s*([^`\s]*)/;

/** Emits a block when it is complete; a fence line by line. */
export function createMarkdownStream({ style, columns }: MarkdownOptions): MarkdownStream {
  let partial = "";
  let block: Block | undefined;
  let lastType: Block["type"] | undefined;
  /** Whether blank lines followed the last block. */
  let hasGap = false;

  /** Adds an empty line before a block, except between items of a tight list. */
  function addSpacing(type: Block["type"], lines: readonly string[]): string[] {
    const isTight = lastType === undefined || (lastType === "item" && type === "item" && !hasGap);
    lastType = type;
    hasGap = false;
    return isTight ? [...lines] : ["", ...lines];
  }

  function closeBlock(): string[] {
    if (!block) return [];
    const done = block;
    block = undefined;
    return done.type === "fence" ? [] : addSpacing(done.type, renderBlock(done, style, columns()));
  }

  function addLine(line: string): string[] {
    if (block?.type === "fence") {
      if (line.trim().startsWith(block.mark ?? "") && line.trim().replace(/[`~]/g, "") === "")
        return closeBlock();
      return renderCode(line, style, columns());
    }
    if (line.trim() === "") {
      const closed = closeBlock();
      hasGap = true;
      return closed;
    }
    const opened = fencePattern.exec(line);
    if (opened) {
      const [, mark = "", language = ""] = opened;
      const closed = closeBlock();
      block = { type: "fence", lines: [], mark, language };
      return [...closed, ...addSpacing("fence", [renderFenceLabel(language, style)])];
    }
    const type = detectType(line, block);
    if (block && continuesBlock(block, type, line)) {
      block.lines.push(line);
      return [];
    }
    const closed = closeBlock();
    block = { type, lines: [line] };
    return type === "heading" || type === "rule" ? [...closed, ...closeBlock()] : closed;
  }

  return {
    push(piece) {
      const lines = (partial + piece).split("\n");
      partial = lines.pop() ?? "";
      return lines.flatMap((line) => escapeTerminal(line).split("\n").flatMap(addLine));
    },
    renderPartial() {
      const line = escapeTerminal(partial).replace(/\n+/g, " ");
      if (block?.type === "fence")
        return line.trim() === "" || /^\s*[`~]+$/.test(line) ? [] : renderCode(line, style, columns());
      const lines = renderOpenBlock(block, line, { style, columns });
      if (lines.length === 0) return [];
      const type = block?.type ?? detectType(line, undefined);
      const isTight = lastType === undefined || (lastType === "item" && type === "item" && !hasGap);
      return isTight ? lines : ["", ...lines];
    },
    end() {
      const rest = partial;
      partial = "";
      const lines = rest === "" ? [] : escapeTerminal(rest).split("\n").flatMap(addLine);
      return [...lines, ...closeBlock()];
    },
  };
}

function detectType(line: string, open: Block | undefined): Block["type"] {
  if (/^ {0,3}#{1,6}\s/.test(line)) return "heading";
  if (/^ {0,3}([-*_])\s*(?:\1\s*){2,}$/.test(line)) return "rule";
  if (itemPattern.test(line)) return "item";
  if (/^ {0,3}>/.test(line)) return "quote";
  if (/^\s*\|/.test(line)) return "table";
  if (isTableRule(line) && open?.type === "paragraph" && open.lines.length === 1) return "table";
  return open?.type === "table" && line.includes("|") ? "table" : "paragraph";
}

function continuesBlock(block: Block, type: Block["type"], line: string): boolean {
  if (block.type === "paragraph" && type === "table" && isTableRule(line)) {
    Object.assign(block, { type: "table" });
    return true;
  }
  if (type === "paragraph")
    return block.type === "paragraph" || block.type === "item" || block.type === "quote";
  return type === block.type && (type === "quote" || type === "table");
}

function renderOpenBlock(
  block: Block | undefined,
  partial: string,
  { style, columns }: MarkdownOptions,
): string[] {
  // Marks that may become a fence, heading or list are hidden until they do.
  const isMarks = /^\s*([`~#>*+\-|_]+|\d+[.)]?)\s*$/.test(partial);
  const line = isMarks ? "" : partial;
  if (!block && line.trim() === "") return [];
  const type = line.trim() === "" ? block?.type : detectType(line, block);
  if (block && line.trim() !== "" && type && !continuesBlock({ ...block }, type, line)) {
    const before = renderBlock(block, style, columns());
    const next = renderBlock({ type, lines: [closeOpenMarks(line)] }, style, columns());
    return [...before, ...(block.type === "item" && type === "item" ? [] : [""]), ...next];
  }
  const lines = [...(block?.lines ?? []), ...(line.trim() === "" ? [] : [line])];
  const whole = { type: block?.type ?? type ?? "paragraph", lines };
  if (whole.type === "table") return renderBlock(whole, style, columns());
  return renderBlock({ ...whole, lines: closeOpenMarks(lines.join("\n")).split("\n") }, style, columns());
}

function renderBlock({ type, lines }: Block, style: Style, columns: number): string[] {
  const text = lines.map((line) => line.trim()).join(" ");
  if (type === "heading") {
    const [, marks = "", words = ""] = /^\s*(#+)\s+(.*?)\s*#*$/.exec(lines[0] ?? "") ?? [];
    const look = marks.length === 1 ? (said: string) => style.bold(style.underline(said)) : style.bold;
    return wrapText(styleInline(words, style), columns).map(look);
  }
  if (type === "rule") return [style.dim("─".repeat(Math.min(columns, 40)))];
  if (type === "table") return renderTable(lines, columns, style);
  if (type === "quote") {
    const said = lines.map((line) => line.replace(/^\s*> ?/, "")).join(" ");
    return wrapText(styleInline(said, style), columns - 2).map(
      (line) => `${style.dim("│")} ${style.italic(line)}`,
    );
  }
  if (type === "item") {
    const [, indent = "", mark = "", words = ""] = itemPattern.exec(lines[0] ?? "") ?? [];
    const bullet = `${" ".repeat(Math.min(indent.length, columns >> 1))}${/\d/.test(mark) ? mark : "•"} `;
    const said = [
      words.replace(/^\[ \]/, "☐").replace(/^\[[xX]\]/, "☑"),
      ...lines.slice(1).map((line) => line.trim()),
    ];
    const width = measureWidth(bullet);
    return indentHanging(
      wrapText(styleInline(said.join(" "), style), columns - width),
      bullet,
      " ".repeat(width),
    );
  }
  return wrapText(styleInline(text, style), columns);
}

function renderFenceLabel(language: string, style: Style): string {
  return style.dim(`  ── ${language || "text"}`);
}

function renderCode(line: string, style: Style, columns: number): string[] {
  return breakLines(line, columns - 2).map((part) => (part === "" ? "" : `  ${style.cyan(part)}`));
}
