import type { Io } from "../io.ts";
import { createKeyReader, type Key } from "./keys.ts";

/** A terminal in raw mode. */
export interface RawTerminal {
  write(text: string): void;
  getSize(): { readonly columns: number; readonly rows: number };
  /** Suspends the process and returns to the shell; a no-op on Windows. */
  suspend(): void;
  close(): void;
}

export type RawTerminalOptions = {
  onKey(key: Key): void;
  onResize(): void;
  /** The terminal was closed, or the process received a signal to exit. */
  onEnd(): void;
};

// Bracketed paste, and the kitty protocol, which reports Shift+Enter. Terminals ignore unknown sequences.
const enableSequence = "\x1b[?2004h\x1b[>1u";
const disableSequence = "\x1b[<u\x1b[?2004l\x1b[?25h\x1b[?7h";
const minColumns = 20;

/** Enters raw mode. `close` and process exit restore the terminal. */
export function openRawTerminal({ stdin, stdout }: Io, options: RawTerminalOptions): RawTerminal {
  const reader = createKeyReader(options.onKey);
  const onData = (bytes: Uint8Array) => reader.feed(bytes);
  let isOpen = false;

  function open(): void {
    isOpen = true;
    stdin.setRawMode?.(true);
    stdin.resume();
    stdout.write(enableSequence);
  }
  function release(): void {
    if (!isOpen) return;
    isOpen = false;
    stdout.write(disableSequence);
    stdin.setRawMode?.(false);
  }
  const resume = () => {
    open();
    options.onResize();
  };
  stdin.on("data", onData);
  stdin.on("end", options.onEnd);
  stdout.on("resize", options.onResize);
  const signals = ["SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, options.onEnd);
  process.on("exit", release);
  open();

  return {
    write: (text) => void stdout.write(text),
    getSize: () => ({ columns: Math.max(minColumns, stdout.columns ?? 80), rows: stdout.rows ?? 24 }),
    suspend() {
      if (process.platform === "win32") return;
      release();
      process.once("SIGCONT", resume);
      process.kill(process.pid, "SIGTSTP");
    },
    close() {
      reader.close();
      stdin.off("data", onData);
      stdin.off("end", options.onEnd);
      stdout.off("resize", options.onResize);
      for (const signal of signals) process.off(signal, options.onEnd);
      process.off("exit", release);
      process.off("SIGCONT", resume);
      release();
      stdin.pause();
    },
  };
}
