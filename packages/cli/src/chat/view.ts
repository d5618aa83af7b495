import type { Io } from "../io.ts";
import type { Key } from "../terminal/keys.ts";
import { openRawTerminal } from "../terminal/raw-terminal.ts";
import { createScreen, type LiveRegion } from "../terminal/screen.ts";
import { createStyle, type Style } from "../terminal/style.ts";

/** Receives the keys and renders the bottom of the screen. */
export type Mode = { pressKey(key: Key): void; render(columns: number): LiveRegion };

/** The terminal: printed lines, and a live region below them. */
export interface View {
  readonly style: Style;
  getColumns(): number;
  /** Prints lines after an empty line. */
  print(lines: readonly string[]): void;
  /** Prints lines without an empty line before them. */
  append(lines: readonly string[]): void;
  /** Activates a mode until the returned function is called. */
  pushMode(mode: Mode): () => void;
  /** Rows above the mode, rendered at every redraw. */
  showAbove(rows: (getColumns: number) => readonly string[]): void;
  /** Schedules a redraw. */
  redraw(): void;
  /** Redraws periodically while on, for animations. */
  animate(isOn: boolean): void;
  suspend(): void;
  close(): void;
}

export type ViewOptions = {
  /** The terminal was closed. */
  onEnd(): void;
};

const redrawMs = 33;
const animationMs = 100;
/** Longer lines are hard to read. */
const maxColumns = 100;

const emptyMode: Mode = { pressKey: () => undefined, render: () => ({ rows: [] }) };

export function openView(io: Io, { onEnd }: ViewOptions): View {
  const modes: Mode[] = [];
  const getMode = () => modes.at(-1) ?? emptyMode;
  let above: (columns: number) => readonly string[] = () => [];
  let timer: NodeJS.Timeout | undefined;
  let animation: NodeJS.Timeout | undefined;
  let isClosed = false;

  const terminal = openRawTerminal(io, {
    onKey(key) {
      getMode().pressKey(key);
      draw();
    },
    onResize() {
      screen.handleResize(terminal.getSize().columns);
      draw();
    },
    onEnd,
  });
  const screen = createScreen(terminal);
  const columns = () => Math.min(maxColumns, terminal.getSize().columns);

  function renderRegion(): LiveRegion {
    const before = above(columns());
    const { rows, cursor } = getMode().render(columns());
    const shift = before.length + 1;
    return {
      rows: [...before, "", ...rows],
      cursor: cursor && { row: cursor.row + shift, column: cursor.column },
    };
  }
  function draw(): void {
    clearTimeout(timer);
    timer = undefined;
    if (!isClosed) screen.draw(renderRegion());
  }
  /** Prints lines and redraws the live region below them. */
  function addLines(lines: readonly string[]): void {
    if (isClosed || lines.length === 0) return;
    screen.print(lines, renderRegion());
    clearTimeout(timer);
    timer = undefined;
  }

  return {
    style: createStyle(io.stdout, io.env),
    getColumns: columns,
    print: (lines) => addLines(["", ...lines]),
    append: addLines,
    pushMode(mode) {
      modes.push(mode);
      draw();
      return () => {
        const at = modes.indexOf(mode);
        if (at !== -1) modes.splice(at, 1);
        draw();
      };
    },
    showAbove(rows) {
      above = rows;
    },
    redraw() {
      timer ??= setTimeout(draw, redrawMs);
    },
    animate(isOn) {
      clearInterval(animation);
      animation = isOn ? setInterval(draw, animationMs) : undefined;
    },
    suspend: () => terminal.suspend(),
    close() {
      clearTimeout(timer);
      clearInterval(animation);
      if (isClosed) return;
      isClosed = true;
      screen.clear();
      terminal.close();
    },
  };
}
