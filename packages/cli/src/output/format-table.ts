import stringWidth from "fast-string-width";
import type { Io } from "../io.ts";
import { harmlessLine } from "../terminal/escape-terminal.ts";

/** A column: its name, what it says of an item, and whether it gives way where there is little room. */
export type Column<Item> = {
  readonly name: string;
  readonly value: (item: Item) => string;
  readonly gives?: boolean;
  /** Left out where there is no room for all. */
  readonly optional?: boolean;
};

/** Lines as wide as the terminal at most; in a pipe as wide as they are. */
export function table<Item>(
  items: readonly Item[],
  columns: readonly Column<Item>[],
  { stdout }: Pick<Io, "stdout">,
): string {
  const room = stdout.isTTY ? Math.max(20, stdout.columns ?? 80) : Number.POSITIVE_INFINITY;
  const rows = (shown: readonly Column<Item>[]) => [
    shown.map(({ name }) => name),
    ...items.map((item) => shown.map(({ value }) => harmlessLine(value(item)))),
  ];
  let shown = columns;
  let widths = widthsOf(rows(shown));
  while (total(widths) > room && shown.some(({ optional }) => optional)) {
    const last = shown.findLastIndex(({ optional }) => optional);
    shown = shown.filter((_, index) => index !== last);
    widths = widthsOf(rows(shown));
  }
  const giving = shown.findIndex(({ gives }) => gives);
  const over = total(widths) - room;
  if (over > 0 && giving !== -1) widths[giving] = Math.max(8, (widths[giving] ?? 0) - over);
  return rows(shown)
    .map((cells) =>
      cells
        .map((cell, index) => padded(cell, widths[index] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join("");
}

const total = (widths: readonly number[]): number => widths.reduce((sum, width) => sum + width + 2, -2);

function widthsOf(rows: readonly (readonly string[])[]): number[] {
  return (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => stringWidth(row[column] ?? ""))));
}

function padded(cell: string, width: number): string {
  const cut = cutTo(cell, width);
  return cut + " ".repeat(Math.max(0, width - stringWidth(cut)));
}

/** By whole characters, as a reader sees them. */
function cutTo(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = "";
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (stringWidth(kept + segment) > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** US dollars; nothing when nothing is known of a price. */
export function dollars(cost: number): string {
  if (cost === 0) return "";
  return cost < 0.01 ? "<$0.01" : `$${cost.toFixed(2)}`;
}
