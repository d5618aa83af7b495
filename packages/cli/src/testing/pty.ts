import { fileURLToPath } from "node:url";
import { buildProgramArguments } from "@capstan/verification/program-arguments";
import { type IPty, spawn } from "@lydell/node-pty";
import headless from "@xterm/headless";

/** A program in a real pseudo-terminal, with a terminal that shows what it writes. */
export interface PtyProgram extends AsyncDisposable {
  readonly pid: number;
  type(keys: string): void;
  resize(columns: number, rows: number): void;
  /** What is on the screen, and with `all` what has gone up from it; without spaces at the ends. */
  getScreen(all?: "all"): string;
  /** The screen once it shows this; rejects with what there is instead when that takes too long. */
  waitFor(wanted: string | RegExp): Promise<string>;
  /** The same for what must be gone. */
  waitUntilGone(unwanted: string | RegExp): Promise<string>;
  /** Everything the program wrote, with escape sequences. */
  readonly written: string;
  /** Terminal actions other than text: titles, bells, links and clipboards. */
  readonly sideEffects: readonly string[];
  readonly exitCode: Promise<number>;
  kill(signal: string): void;
}

export type PtyOptions = {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
};

const screenTimeoutMs = 30_000;

/** Starts a program of a test in a pseudo-terminal, given by its source file next to the file `beside`. */
export function startInPty(
  beside: string,
  [file, ...args]: readonly [string, ...string[]],
  options: PtyOptions = {},
): PtyProgram {
  const { NO_COLOR: _, FORCE_COLOR: __, CI: ___, ...own } = process.env;
  const source = fileURLToPath(new URL(file, beside));
  const env = { ...own, ...options.env } as Record<string, string>;
  return startCommandInPty([process.execPath, ...buildProgramArguments(source), ...args], {
    ...options,
    env,
  });
}

/** Starts a command in a pseudo-terminal, with this environment and no other. */
export function startCommandInPty(
  [command, ...args]: readonly [string, ...string[]],
  options: PtyOptions = {},
): PtyProgram {
  const { columns = 80, rows = 30, env = {}, cwd = process.cwd() } = options;
  const child = spawn(command, args, { name: "xterm-256color", cols: columns, rows, cwd, env });
  return watchProgram(child, columns, rows);
}

function watchProgram(child: IPty, columns: number, rows: number): PtyProgram {
  const terminal = new headless.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 2000 });
  const deeds: string[] = [];
  const waiting = new Set<() => void>();
  let written = "";
  let isOver = false;
  terminal.onTitleChange((title) => deeds.push(`title ${title}`));
  terminal.onBell(() => deeds.push("bell"));
  for (const code of [0, 1, 2, 8, 52])
    terminal.parser.registerOscHandler(code, (data) => deeds.push(`osc ${code} ${data}`) > 0);
  const isDrawing = createDrawingCheck(terminal);
  const look = () => {
    if (!isDrawing() || isOver) for (const check of waiting) check();
  };
  child.onData((data) => {
    written += data;
    terminal.write(data, look);
  });
  const exitCode = new Promise<number>((resolve) => {
    child.onExit((exit) => {
      isOver = true;
      // What was written last is still to be shown.
      terminal.write("", () => {
        look();
        resolve(exit.signal ? 128 + exit.signal : exit.exitCode);
      });
    });
  });
  const screen = (all?: "all") => getScreenText(terminal, all === "all");
  const until = (isThere: () => boolean, about: string) =>
    new Promise<string>((resolve, reject) => {
      const end = (problem?: string) => {
        waiting.delete(check);
        clearTimeout(timer);
        if (problem === undefined) resolve(screen());
        else reject(new Error(`${problem}. The screen is:\n${screen("all")}`));
      };
      const timer = setTimeout(() => end(`${about} did not come`), screenTimeoutMs);
      const check = () => {
        if (isThere()) end();
        else if (isOver) end(`The program has ended before ${about}`);
      };
      waiting.add(check);
      check();
    });
  const has = (wanted: string | RegExp) =>
    typeof wanted === "string" ? screen("all").includes(wanted) : wanted.test(screen("all"));
  const program: PtyProgram = {
    pid: child.pid,
    type: (keys) => child.write(keys),
    resize(nextColumns, nextRows) {
      terminal.resize(nextColumns, nextRows);
      child.resize(nextColumns, nextRows);
    },
    getScreen: screen,
    waitFor: (wanted) => until(() => has(wanted), `${wanted}`),
    waitUntilGone: (unwanted) =>
      until(
        () => !(typeof unwanted === "string" ? screen().includes(unwanted) : unwanted.test(screen())),
        `the end of ${unwanted}`,
      ),
    get written() {
      return written;
    },
    sideEffects: deeds,
    exitCode,
    kill: (signal) => !isOver && child.kill(signal),
    async [Symbol.asyncDispose]() {
      program.kill("SIGKILL");
      await exitCode;
      terminal.dispose();
    },
  };
  return program;
}

type Terminal = InstanceType<typeof headless.Terminal>;

/** Whether the program is in the middle of a picture, which may arrive in pieces. */
function createDrawingCheck({ parser }: Terminal): () => boolean {
  let isDrawing = false;
  const tells = (final: string, begins: boolean) =>
    parser.registerCsiHandler({ prefix: "?", final }, (modes) => {
      if (modes.includes(2026)) isDrawing = begins;
      return false;
    });
  tells("h", true);
  tells("l", false);
  return () => isDrawing;
}

function getScreenText(terminal: Terminal, isAll: boolean): string {
  const buffer = terminal.buffer.active;
  const lines: string[] = [];
  for (let row = isAll ? 0 : buffer.baseY; row < buffer.baseY + terminal.rows; row++)
    lines.push(buffer.getLine(row)?.translateToString(true) ?? "");
  return lines.join("\n").trimEnd();
}
