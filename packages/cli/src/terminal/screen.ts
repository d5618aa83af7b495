import { widthOf } from "./wrap.ts";

/** What is at the bottom of the terminal and changes: rows that fit, and where the cursor is. */
export type LiveRegion = {
  readonly rows: readonly string[];
  readonly cursor?: { readonly row: number; readonly column: number } | undefined;
};

/** Finished lines go up into the scrollback for good; the live region below them is redrawn in place. */
export interface Screen {
  /** `region` is what is below the lines from then on. */
  print(lines: readonly string[], region: LiveRegion): void;
  draw(region: LiveRegion): void;
  /** The terminal has another width: what it did to the rows is undone. */
  resized(columns: number): void;
  /** Takes the live region away. */
  clear(): void;
}

export type ScreenOptions = {
  write(text: string): void;
  size(): { readonly columns: number; readonly rows: number };
};

// Terminals that know it show all of a redraw at once.
const begin = "\x1b[?2026h\x1b[?25l";
const end = "\x1b[?25h\x1b[?2026l";
const wrapOff = "\x1b[?7l";
const wrapOn = "\x1b[?7h";
const clearBelow = "\x1b[J";
const clearLine = "\x1b[K";
const plain = "\x1b[0m";

const nothing: LiveRegion = { rows: [] };

/** A screen that writes as little as it can. */
export function liveScreen({ write, size }: ScreenOptions): Screen {
  let shown: LiveRegion = nothing;
  /** The row of the region that the terminal's cursor is in. */
  let at = 0;

  function draw(region: LiveRegion): void {
    const next = fitting(region, size().rows);
    const changes = redraw(shown, at, next);
    shown = next;
    at = cursorRow(next);
    if (changes) write(`${begin}${changes}${end}`);
  }

  return {
    draw,
    print(lines, region) {
      const erase = `${toTop(at)}${clearBelow}`;
      const text = lines.map((line) => `${ended(line)}\r\n`).join("");
      shown = fitting(region, size().rows);
      at = cursorRow(shown);
      write(`${begin}${erase}${text}${redraw(nothing, 0, shown)}${end}`);
    },
    resized(columns) {
      // A terminal that became narrower has broken the rows; the cursor went down with them.
      const above = shown.rows.slice(0, at).map((row) => Math.max(1, Math.ceil(widthOf(row) / columns)));
      const column = shown.cursor?.column ?? 0;
      const up = above.reduce((sum, rows) => sum + rows, 0) + Math.floor(column / columns);
      write(`${begin}${toTop(up)}${clearBelow}${end}`);
      shown = nothing;
      at = 0;
    },
    clear() {
      write(`${begin}${toTop(at)}${clearBelow}${end}`);
      shown = nothing;
      at = 0;
    },
  };
}

/** The last rows are the ones that matter: the prompt is there. One row stays free, so that nothing scrolls by itself. */
function fitting({ rows, cursor }: LiveRegion, height: number): LiveRegion {
  const most = Math.max(1, height - 1);
  const dropped = Math.max(0, rows.length - most);
  if (dropped === 0) return { rows, cursor };
  const kept = cursor && { row: Math.max(0, cursor.row - dropped), column: cursor.column };
  return { rows: rows.slice(dropped), cursor: kept };
}

function cursorRow({ rows, cursor }: LiveRegion): number {
  return cursor?.row ?? Math.max(0, rows.length - 1);
}

function toTop(rows: number): string {
  return `\r${rows > 0 ? `\x1b[${rows}A` : ""}`;
}

function ended(row: string): string {
  return row.includes("\x1b") ? `${row}${plain}` : row;
}

/** From the first row that differs on; empty when nothing does. */
function redraw(from: LiveRegion, at: number, to: LiveRegion): string {
  const isSame = from.rows.length === to.rows.length && to.rows.every((row, n) => row === from.rows[n]);
  if (isSame && from.cursor?.column === to.cursor?.column && at === cursorRow(to)) return "";
  let text = wrapOff;
  let row = at;
  const go = (target: number) => {
    if (target < row) text += `\x1b[${row - target}A`;
    if (target > row) text += `\x1b[${target - row}B`;
    row = target;
    text += "\r";
  };
  for (const [index, line] of to.rows.entries()) {
    if (index < from.rows.length && line === from.rows[index]) continue;
    if (index < Math.max(1, from.rows.length)) go(index);
    else {
      go(index - 1);
      text += "\n";
      row = index;
    }
    text += `${ended(line)}${clearLine}`;
  }
  if (to.rows.length < from.rows.length) {
    go(to.rows.length);
    text += clearBelow;
  }
  go(cursorRow(to));
  const column = to.cursor?.column ?? 0;
  if (column > 0) text += `\x1b[${column}C`;
  return `${text}${wrapOn}`;
}
