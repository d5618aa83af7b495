import { harmless } from "./escape-terminal.ts";
import { healed, inlineStyled } from "./markdown-inline.ts";
import { isTableRule, tableLines } from "./markdown-table.ts";
import type { Style } from "./style.ts";
import { cutLines, hanging, widthOf, wrapped } from "./wrap.ts";

/** Markdown that arrives in pieces, as styled lines. */
export interface MarkdownStream {
  /** Takes a piece and gives the lines that are finished by it. */
  push(piece: string): string[];
  /** What is not finished yet, as it looks so far. */
  live(): string[];
  /** The lines that were left. */
  end(): string[];
}

export type MarkdownOptions = {
  readonly style: Style;
  /** Asked for each block, so that a resized terminal is filled rightly. */
  columns(): number;
};

type Block = {
  readonly type: "paragraph" | "heading" | "item" | "quote" | "table" | "rule" | "fence";
  readonly lines: string[];
  /** Of a fence: what closes it, and whether its first line was printed. */
  readonly mark?: string;
  readonly language?: string;
};

const item = /^(\s*)([-*+•]|\d{1,9}[.)])\s+(.*)$/;
const fence = /^ {0,3}(`{3,}|~{3,})\s*([^`\s]*)/;

/** Prints a block when it is complete; of a fence each line. */
export function markdownStream({ style, columns }: MarkdownOptions): MarkdownStream {
  let partial = "";
  let block: Block | undefined;
  let last: Block["type"] | undefined;
  /** Blank lines were seen since the last block. */
  let gap = false;

  /** Space before a block, except between the items of a tight list. */
  function spaced(type: Block["type"], lines: readonly string[]): string[] {
    const isTight = last === undefined || (last === "item" && type === "item" && !gap);
    last = type;
    gap = false;
    return isTight ? [...lines] : ["", ...lines];
  }

  function close(): string[] {
    if (!block) return [];
    const done = block;
    block = undefined;
    return done.type === "fence" ? [] : spaced(done.type, blockLines(done, style, columns()));
  }

  function hearLine(line: string): string[] {
    if (block?.type === "fence") {
      if (line.trim().startsWith(block.mark ?? "") && line.trim().replace(/[`~]/g, "") === "") return close();
      return codeLines(line, style, columns());
    }
    if (line.trim() === "") {
      const closed = close();
      gap = true;
      return closed;
    }
    const opened = fence.exec(line);
    if (opened) {
      const [, mark = "", language = ""] = opened;
      const closed = close();
      block = { type: "fence", lines: [], mark, language };
      return [...closed, ...spaced("fence", [fenceLabel(language, style)])];
    }
    const type = typeOf(line, block);
    if (block && continues(block, type, line)) {
      block.lines.push(line);
      return [];
    }
    const closed = close();
    block = { type, lines: [line] };
    return type === "heading" || type === "rule" ? [...closed, ...close()] : closed;
  }

  return {
    push(piece) {
      const lines = (partial + piece).split("\n");
      partial = lines.pop() ?? "";
      return lines.flatMap((line) => harmless(line).split("\n").flatMap(hearLine));
    },
    live() {
      const line = harmless(partial).replace(/\n+/g, " ");
      if (block?.type === "fence")
        return line.trim() === "" || /^\s*[`~]+$/.test(line) ? [] : codeLines(line, style, columns());
      const lines = liveLines(block, line, { style, columns });
      if (lines.length === 0) return [];
      const type = block?.type ?? typeOf(line, undefined);
      const isTight = last === undefined || (last === "item" && type === "item" && !gap);
      return isTight ? lines : ["", ...lines];
    },
    end() {
      const rest = partial;
      partial = "";
      const lines = rest === "" ? [] : harmless(rest).split("\n").flatMap(hearLine);
      return [...lines, ...close()];
    },
  };
}

function typeOf(line: string, open: Block | undefined): Block["type"] {
  if (/^ {0,3}#{1,6}\s/.test(line)) return "heading";
  if (/^ {0,3}([-*_])\s*(?:\1\s*){2,}$/.test(line)) return "rule";
  if (item.test(line)) return "item";
  if (/^ {0,3}>/.test(line)) return "quote";
  if (/^\s*\|/.test(line)) return "table";
  if (isTableRule(line) && open?.type === "paragraph" && open.lines.length === 1) return "table";
  return open?.type === "table" && line.includes("|") ? "table" : "paragraph";
}

function continues(block: Block, type: Block["type"], line: string): boolean {
  if (block.type === "paragraph" && type === "table" && isTableRule(line)) {
    Object.assign(block, { type: "table" });
    return true;
  }
  if (type === "paragraph")
    return block.type === "paragraph" || block.type === "item" || block.type === "quote";
  return type === block.type && (type === "quote" || type === "table");
}

function liveLines(block: Block | undefined, partial: string, { style, columns }: MarkdownOptions): string[] {
  // Marks that may yet become a fence, a heading or a list are not shown before they are.
  const isMarks = /^\s*([`~#>*+\-|_]+|\d+[.)]?)\s*$/.test(partial);
  const line = isMarks ? "" : partial;
  if (!block && line.trim() === "") return [];
  const type = line.trim() === "" ? block?.type : typeOf(line, block);
  if (block && line.trim() !== "" && type && !continues({ ...block }, type, line)) {
    const before = blockLines(block, style, columns());
    const next = blockLines({ type, lines: [healed(line)] }, style, columns());
    return [...before, ...(block.type === "item" && type === "item" ? [] : [""]), ...next];
  }
  const lines = [...(block?.lines ?? []), ...(line.trim() === "" ? [] : [line])];
  const whole = { type: block?.type ?? type ?? "paragraph", lines };
  if (whole.type === "table") return blockLines(whole, style, columns());
  return blockLines({ ...whole, lines: healed(lines.join("\n")).split("\n") }, style, columns());
}

function blockLines({ type, lines }: Block, style: Style, columns: number): string[] {
  const text = lines.map((line) => line.trim()).join(" ");
  if (type === "heading") {
    const [, marks = "", words = ""] = /^\s*(#+)\s+(.*?)\s*#*$/.exec(lines[0] ?? "") ?? [];
    const look = marks.length === 1 ? (said: string) => style.bold(style.underline(said)) : style.bold;
    return wrapped(inlineStyled(words, style), columns).map(look);
  }
  if (type === "rule") return [style.dim("─".repeat(Math.min(columns, 40)))];
  if (type === "table") return tableLines(lines, columns, style);
  if (type === "quote") {
    const said = lines.map((line) => line.replace(/^\s*> ?/, "")).join(" ");
    return wrapped(inlineStyled(said, style), columns - 2).map(
      (line) => `${style.dim("│")} ${style.italic(line)}`,
    );
  }
  if (type === "item") {
    const [, indent = "", mark = "", words = ""] = item.exec(lines[0] ?? "") ?? [];
    const bullet = `${" ".repeat(Math.min(indent.length, columns >> 1))}${/\d/.test(mark) ? mark : "•"} `;
    const said = [
      words.replace(/^\[ \]/, "☐").replace(/^\[[xX]\]/, "☑"),
      ...lines.slice(1).map((line) => line.trim()),
    ];
    const width = widthOf(bullet);
    return hanging(wrapped(inlineStyled(said.join(" "), style), columns - width), bullet, " ".repeat(width));
  }
  return wrapped(inlineStyled(text, style), columns);
}

function fenceLabel(language: string, style: Style): string {
  return style.dim(`  ── ${language || "text"}`);
}

function codeLines(line: string, style: Style, columns: number): string[] {
  return cutLines(line, columns - 2).map((part) => (part === "" ? "" : `  ${style.cyan(part)}`));
}
