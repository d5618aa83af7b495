import { inlineStyled } from "./markdown-inline.ts";
import type { Style } from "./style.ts";
import { widthOf, wrapped } from "./wrap.ts";

/** Whether a line is the one between the head and the body of a table. */
export function isTableRule(line: string): boolean {
  return /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/.test(line) && line.includes("|");
}

const narrowest = 6;

/** A table in columns, or, where these would be too narrow, as one paragraph a row. */
export function tableLines(lines: readonly string[], columns: number, style: Style): string[] {
  const rows = lines.filter((line) => !isTableRule(line)).map((line) => cellsOf(line, style));
  const [head = []] = rows;
  const natural = head.map((_, n) => Math.max(1, ...rows.map((row) => widthOf(row[n] ?? ""))));
  const room = columns - 3 * (head.length - 1);
  if (room < narrowest * head.length) return asList(rows, columns, style);
  const widths = shrunk(natural, room);
  const line = (row: readonly string[], look: (text: string) => string) => rowLines(row, widths, look);
  const rule = style.dim(widths.map((width) => "─".repeat(width)).join("─┼─"));
  const gap = style.dim(" │ ");
  return [
    ...line(head, style.bold).map((cells) => cells.join(gap).trimEnd()),
    rule,
    ...rows.slice(1).flatMap((row) => line(row, (text) => text).map((cells) => cells.join(gap).trimEnd())),
  ];
}

function cellsOf(line: string, style: Style): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => inlineStyled(cell.trim().replaceAll("\\|", "|"), style));
}

/** The widest columns give way until all fit. */
function shrunk(natural: readonly number[], room: number): number[] {
  const widths = [...natural];
  while (widths.reduce((sum, width) => sum + width, 0) > room) {
    const widest = widths.indexOf(Math.max(...widths));
    widths[widest] = (widths[widest] ?? 1) - 1;
  }
  return widths;
}

function rowLines(
  row: readonly string[],
  widths: readonly number[],
  look: (text: string) => string,
): string[][] {
  const cells = widths.map((width, n) => wrapped(row[n] ?? "", width));
  const height = Math.max(...cells.map((cell) => cell.length));
  return Array.from({ length: height }, (_, n) =>
    widths.map((width, column) => {
      const text = cells[column]?.[n] ?? "";
      return look(text) + " ".repeat(Math.max(0, width - widthOf(text)));
    }),
  );
}

function asList(rows: readonly (readonly string[])[], columns: number, style: Style): string[] {
  const [head = [], ...body] = rows;
  return body.flatMap((row, n) => [
    ...(n > 0 ? [""] : []),
    ...row.flatMap((cell, column) => wrapped(`${style.bold(head[column] ?? "")}: ${cell}`, columns)),
  ]);
}
