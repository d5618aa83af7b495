import stringWidth from "fast-string-width";
import type { Io } from "../io.ts";
import { escapeTerminalLine } from "../terminal/escape-terminal.ts";

/** A table column. */
export type Column<Item> = {
  readonly name: string;
  readonly value: (item: Item) => string;
  /** Truncated when the table is too wide. */
  readonly shrinks?: boolean;
  /** Dropped when the table is too wide. */
  readonly optional?: boolean;
};

/** Formats a table that fits the terminal; without a terminal, lines are as long as they need to be. */
export function formatTable<Item>(
  items: readonly Item[],
  columns: readonly Column<Item>[],
  { stdout }: Pick<Io, "stdout">,
): string {
  const maxWidth = stdout.isTTY ? Math.max(20, stdout.columns ?? 80) : Number.POSITIVE_INFINITY;
  const buildRows = (visibleColumns: readonly Column<Item>[]) => [
    visibleColumns.map(({ name }) => name),
    ...items.map((item) => visibleColumns.map(({ value }) => escapeTerminalLine(value(item)))),
  ];
  let visibleColumns = columns;
  let widths = measureColumns(buildRows(visibleColumns));
  while (computeTotalWidth(widths) > maxWidth && visibleColumns.some(({ optional }) => optional)) {
    const last = visibleColumns.findLastIndex(({ optional }) => optional);
    visibleColumns = visibleColumns.filter((_, index) => index !== last);
    widths = measureColumns(buildRows(visibleColumns));
  }
  const shrinkingColumn = visibleColumns.findIndex(({ shrinks: gives }) => gives);
  const excess = computeTotalWidth(widths) - maxWidth;
  if (excess > 0 && shrinkingColumn !== -1)
    widths[shrinkingColumn] = Math.max(8, (widths[shrinkingColumn] ?? 0) - excess);
  return buildRows(visibleColumns)
    .map((cells) =>
      cells
        .map((cell, index) => fitCell(cell, widths[index] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join("");
}

const computeTotalWidth = (widths: readonly number[]): number =>
  widths.reduce((sum, width) => sum + width + 2, -2);

function measureColumns(rows: readonly (readonly string[])[]): number[] {
  return (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => stringWidth(row[column] ?? ""))));
}

function fitCell(cell: string, width: number): string {
  const cut = truncateCell(cell, width);
  return cut + " ".repeat(Math.max(0, width - stringWidth(cut)));
}

/** Truncates by grapheme. */
function truncateCell(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = "";
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (stringWidth(kept + segment) > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Formats US dollars; empty when the price is unknown. */
export function formatCost(cost: number): string {
  if (cost === 0) return "";
  return cost < 0.01 ? "<$0.01" : `$${cost.toFixed(2)}`;
}
