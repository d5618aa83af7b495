import type { Io } from "../io.ts";
import { type Key, keyReader } from "./keys.ts";

/** A terminal that gives every key as it is pressed. */
export interface RawTerminal {
  write(text: string): void;
  size(): { readonly columns: number; readonly rows: number };
  /** Gives the terminal back to the shell until the person comes again; nothing where that cannot be. */
  suspend(): void;
  close(): void;
}

export type RawTerminalOptions = {
  onKey(key: Key): void;
  onResize(): void;
  /** There is nobody any more: the window was closed, or the process is asked to end. */
  onEnd(): void;
};

// Bracketed paste, and the protocol in which Shift+Enter is not Enter. Terminals leave out what they do not know.
const enable = "\x1b[?2004h\x1b[>1u";
const disable = "\x1b[<u\x1b[?2004l\x1b[?25h\x1b[?7h";
const narrowest = 20;

/** Puts the terminal into raw mode. `close` gives it back, and so does the end of the process. */
export function rawTerminal({ stdin, stdout }: Io, options: RawTerminalOptions): RawTerminal {
  const reader = keyReader(options.onKey);
  const hear = (bytes: Uint8Array) => reader.feed(bytes);
  let isOpen = false;

  function open(): void {
    isOpen = true;
    stdin.setRawMode?.(true);
    stdin.resume();
    stdout.write(enable);
  }
  function giveBack(): void {
    if (!isOpen) return;
    isOpen = false;
    stdout.write(disable);
    stdin.setRawMode?.(false);
  }
  const resume = () => {
    open();
    options.onResize();
  };
  stdin.on("data", hear);
  stdin.on("end", options.onEnd);
  stdout.on("resize", options.onResize);
  const signals = ["SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, options.onEnd);
  process.on("exit", giveBack);
  open();

  return {
    write: (text) => void stdout.write(text),
    size: () => ({ columns: Math.max(narrowest, stdout.columns ?? 80), rows: stdout.rows ?? 24 }),
    suspend() {
      if (process.platform === "win32") return;
      giveBack();
      process.once("SIGCONT", resume);
      process.kill(process.pid, "SIGTSTP");
    },
    close() {
      reader.close();
      stdin.off("data", hear);
      stdin.off("end", options.onEnd);
      stdout.off("resize", options.onResize);
      for (const signal of signals) process.off(signal, options.onEnd);
      process.off("exit", giveBack);
      process.off("SIGCONT", resume);
      giveBack();
      stdin.pause();
    },
  };
}
