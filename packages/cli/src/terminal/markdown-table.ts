import { styleInline } from "./markdown-inline.ts";
import type { Style } from "./style.ts";
import { measureWidth, wrapText } from "./wrap.ts";

/** Whether a line separates the head and the body of a table. */
export function isTableRule(line: string): boolean {
  return /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/.test(line) && line.includes("|");
}

const minColumnWidth = 6;

/** Renders a table in columns; one paragraph per row when columns would be too narrow. */
export function renderTable(lines: readonly string[], columns: number, style: Style): string[] {
  const rows = lines
    .filter((renderCells) => !isTableRule(renderCells))
    .map((renderCells) => parseCells(renderCells, style));
  const [head = []] = rows;
  const natural = head.map((_, n) => Math.max(1, ...rows.map((row) => measureWidth(row[n] ?? ""))));
  const room = columns - 3 * (head.length - 1);
  if (room < minColumnWidth * head.length) return renderAsList(rows, columns, style);
  const widths = shrinkColumns(natural, room);
  const renderCells = (row: readonly string[], look: (text: string) => string) =>
    renderRow(row, widths, look);
  const rule = style.dim(widths.map((width) => "─".repeat(width)).join("─┼─"));
  const gap = style.dim(" │ ");
  return [
    ...renderCells(head, style.bold).map((cells) => cells.join(gap).trimEnd()),
    rule,
    ...rows
      .slice(1)
      .flatMap((row) => renderCells(row, (text) => text).map((cells) => cells.join(gap).trimEnd())),
  ];
}

function parseCells(line: string, style: Style): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => styleInline(cell.trim().replaceAll("\\|", "|"), style));
}

/** Shrinks the widest columns until all fit. */
function shrinkColumns(natural: readonly number[], room: number): number[] {
  const widths = [...natural];
  while (widths.reduce((sum, width) => sum + width, 0) > room) {
    const widest = widths.indexOf(Math.max(...widths));
    widths[widest] = (widths[widest] ?? 1) - 1;
  }
  return widths;
}

function renderRow(
  row: readonly string[],
  widths: readonly number[],
  look: (text: string) => string,
): string[][] {
  const cells = widths.map((width, n) => wrapText(row[n] ?? "", width));
  const height = Math.max(...cells.map((cell) => cell.length));
  return Array.from({ length: height }, (_, n) =>
    widths.map((width, column) => {
      const text = cells[column]?.[n] ?? "";
      return look(text) + " ".repeat(Math.max(0, width - measureWidth(text)));
    }),
  );
}

function renderAsList(rows: readonly (readonly string[])[], columns: number, style: Style): string[] {
  const [head = [], ...body] = rows;
  return body.flatMap((row, n) => [
    ...(n > 0 ? [""] : []),
    ...row.flatMap((cell, column) => wrapText(`${style.bold(head[column] ?? "")}: ${cell}`, columns)),
  ]);
}
