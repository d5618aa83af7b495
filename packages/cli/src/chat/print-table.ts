import { measureWidth, truncateColumns, wrapText } from "../terminal/wrap.ts";
import type { View } from "./view.ts";

const minColumnWidth = 20;

/** Prints a heading and two columns. */
export function printTable(view: View, title: string, rows: readonly (readonly [string, string])[]): void {
  const { style } = view;
  const columns = view.getColumns();
  const room = Math.min(Math.max(...rows.map(([left]) => measureWidth(left))), Math.floor(columns * 0.45));
  // In a narrow terminal the second column goes below.
  const isNarrow = columns - room - 4 < minColumnWidth;
  const lines = rows.flatMap(([left, right]) => {
    const name = truncateColumns(left, isNarrow ? columns - 2 : room);
    if (isNarrow)
      return [
        `  ${style.cyan(name)}`,
        ...wrapText(right, columns - 4).map((line) => `    ${style.dim(line)}`),
      ];
    const first = `  ${style.cyan(name)}${" ".repeat(Math.max(0, room - measureWidth(name)))}  `;
    const words = wrapText(right, columns - room - 4);
    return words.map((line, n) => (n === 0 ? first : " ".repeat(room + 4)) + style.dim(line));
  });
  view.print([style.bold(title), ...lines]);
}
