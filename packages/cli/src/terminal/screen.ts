import { measureWidth } from "./wrap.ts";

/** The changing bottom of the terminal: rows that fit the width, and the cursor. */
export type LiveRegion = {
  readonly rows: readonly string[];
  readonly cursor?: { readonly row: number; readonly column: number } | undefined;
};

/** Prints finished lines into the scrollback and redraws the live region below them in place. */
export interface Screen {
  /** Prints lines; `region` is the live region below them. */
  print(lines: readonly string[], region: LiveRegion): void;
  draw(region: LiveRegion): void;
  /** Clears the rows that the terminal rewrapped after a change of width. */
  handleResize(columns: number): void;
  /** Removes the live region. */
  clear(): void;
}

export type ScreenOptions = {
  write(text: string): void;
  getSize(): { readonly columns: number; readonly rows: number };
};

// Synchronized update: supporting terminals show a redraw at once.
const beginUpdate = "\x1b[?2026h\x1b[?25l";
const endUpdate = "\x1b[?25h\x1b[?2026l";
const wrapOff = "\x1b[?7l";
const wrapOn = "\x1b[?7h";
const clearBelow = "\x1b[J";
const clearLine = "\x1b[K";
const resetSequence = "\x1b[0m";

const emptyRegion: LiveRegion = { rows: [] };

/** Writes only the rows that change. */
export function createScreen({ write, getSize: size }: ScreenOptions): Screen {
  let shownRegion: LiveRegion = emptyRegion;
  /** Row of the region that contains the terminal's cursor. */
  let currentRow = 0;

  function draw(region: LiveRegion): void {
    const next = fitRegion(region, size().rows);
    const changes = renderChanges(shownRegion, currentRow, next);
    shownRegion = next;
    currentRow = getCursorRow(next);
    if (changes) write(`${beginUpdate}${changes}${endUpdate}`);
  }

  return {
    draw,
    print(lines, region) {
      const erase = `${moveToTop(currentRow)}${clearBelow}`;
      const text = lines.map((line) => `${resetStyle(line)}\r\n`).join("");
      shownRegion = fitRegion(region, size().rows);
      currentRow = getCursorRow(shownRegion);
      write(`${beginUpdate}${erase}${text}${renderChanges(emptyRegion, 0, shownRegion)}${endUpdate}`);
    },
    handleResize(columns) {
      // A narrower terminal wraps the rows and moves the cursor down with them.
      const above = shownRegion.rows
        .slice(0, currentRow)
        .map((row) => Math.max(1, Math.ceil(measureWidth(row) / columns)));
      const column = shownRegion.cursor?.column ?? 0;
      const up = above.reduce((sum, rows) => sum + rows, 0) + Math.floor(column / columns);
      write(`${beginUpdate}${moveToTop(up)}${clearBelow}${endUpdate}`);
      shownRegion = emptyRegion;
      currentRow = 0;
    },
    clear() {
      write(`${beginUpdate}${moveToTop(currentRow)}${clearBelow}${endUpdate}`);
      shownRegion = emptyRegion;
      currentRow = 0;
    },
  };
}

/** Keeps the last rows, which contain the prompt. One row stays free to avoid scrolling. */
function fitRegion({ rows, cursor }: LiveRegion, height: number): LiveRegion {
  const maxRows = Math.max(1, height - 1);
  const dropped = Math.max(0, rows.length - maxRows);
  if (dropped === 0) return { rows, cursor };
  const kept = cursor && { row: Math.max(0, cursor.row - dropped), column: cursor.column };
  return { rows: rows.slice(dropped), cursor: kept };
}

function getCursorRow({ rows, cursor }: LiveRegion): number {
  return cursor?.row ?? Math.max(0, rows.length - 1);
}

function moveToTop(rows: number): string {
  return `\r${rows > 0 ? `\x1b[${rows}A` : ""}`;
}

function resetStyle(row: string): string {
  return row.includes("\x1b") ? `${row}${resetSequence}` : row;
}

/** Returns the sequences that update the changed rows; empty when nothing changed. */
function renderChanges(from: LiveRegion, at: number, to: LiveRegion): string {
  const isSame = from.rows.length === to.rows.length && to.rows.every((row, n) => row === from.rows[n]);
  if (isSame && from.cursor?.column === to.cursor?.column && at === getCursorRow(to)) return "";
  let text = wrapOff;
  let row = at;
  const goToRow = (target: number) => {
    if (target < row) text += `\x1b[${row - target}A`;
    if (target > row) text += `\x1b[${target - row}B`;
    row = target;
    text += "\r";
  };
  for (const [index, line] of to.rows.entries()) {
    if (index < from.rows.length && line === from.rows[index]) continue;
    if (index < Math.max(1, from.rows.length)) goToRow(index);
    else {
      goToRow(index - 1);
      text += "\n";
      row = index;
    }
    text += `${resetStyle(line)}${clearLine}`;
  }
  if (to.rows.length < from.rows.length) {
    goToRow(to.rows.length);
    text += clearBelow;
  }
  goToRow(getCursorRow(to));
  const column = to.cursor?.column ?? 0;
  if (column > 0) text += `\x1b[${column}C`;
  return `${text}${wrapOn}`;
}
