import type { Io } from "../io.ts";
import type { Key } from "../terminal/keys.ts";
import { rawTerminal } from "../terminal/raw-terminal.ts";
import { type LiveRegion, liveScreen } from "../terminal/screen.ts";
import { type Style, styleFor } from "../terminal/style.ts";

/** Who has the keyboard and the bottom of the screen. */
export type Mode = { press(key: Key): void; render(columns: number): LiveRegion };

/** What the person sees: lines that stay, and below them what changes. */
export interface View {
  readonly style: Style;
  columns(): number;
  /** Lines that stay, with an empty line before them. */
  print(lines: readonly string[]): void;
  /** Lines that belong to those before. */
  append(lines: readonly string[]): void;
  /** Gives keyboard and bottom to a mode, until the returned function is called. */
  use(mode: Mode): () => void;
  /** Shown above the bottom, and asked for at every redraw. */
  showAbove(rows: (columns: number) => readonly string[]): void;
  /** Something has changed. */
  redraw(): void;
  /** While it is on, the screen is redrawn by itself, for what moves. */
  animate(isOn: boolean): void;
  suspend(): void;
  close(): void;
}

export type ViewOptions = {
  /** There is nobody any more. */
  onEnd(): void;
};

const redrawMs = 33;
const animationMs = 100;
/** Lines longer than this are hard to read. */
const widest = 100;

const nobody: Mode = { press: () => undefined, render: () => ({ rows: [] }) };

/** Opens the view of a terminal. */
export function openView(io: Io, { onEnd }: ViewOptions): View {
  const modes: Mode[] = [];
  const top = () => modes.at(-1) ?? nobody;
  let above: (columns: number) => readonly string[] = () => [];
  let timer: NodeJS.Timeout | undefined;
  let animation: NodeJS.Timeout | undefined;
  let isClosed = false;

  const terminal = rawTerminal(io, {
    onKey(key) {
      top().press(key);
      draw();
    },
    onResize() {
      screen.resized(terminal.size().columns);
      draw();
    },
    onEnd,
  });
  const screen = liveScreen(terminal);
  const columns = () => Math.min(widest, terminal.size().columns);

  function region(): LiveRegion {
    const before = above(columns());
    const { rows, cursor } = top().render(columns());
    const shift = before.length + 1;
    return {
      rows: [...before, "", ...rows],
      cursor: cursor && { row: cursor.row + shift, column: cursor.column },
    };
  }
  function draw(): void {
    clearTimeout(timer);
    timer = undefined;
    if (!isClosed) screen.draw(region());
  }
  /** The live region is drawn with what it is after these lines. */
  function add(lines: readonly string[]): void {
    if (isClosed || lines.length === 0) return;
    screen.print(lines, region());
    clearTimeout(timer);
    timer = undefined;
  }

  return {
    style: styleFor(io.stdout, io.env),
    columns,
    print: (lines) => add(["", ...lines]),
    append: add,
    use(mode) {
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
