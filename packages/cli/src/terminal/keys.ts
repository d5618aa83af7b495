import { StringDecoder } from "node:string_decoder";

/** Keyboard input. A press has a name such as `enter`, `ctrl+c`, `alt+left` or `shift+enter`. */
export type Key =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "paste"; readonly text: string }
  | { readonly type: "press"; readonly name: string };

/** Parses the input of a terminal in raw mode. */
export interface KeyReader {
  feed(bytes: Uint8Array): void;
  close(): void;
}

export type KeyReaderOptions = {
  /** A lone Esc followed by nothing for this long is the Esc key, not the start of a sequence. */
  readonly escapeMs?: number;
};

const pasteStart = "\x1b[200~";
const pasteEnd = "\x1b[201~";
const namesByFinal: Readonly<Record<string, string>> = {
  ...{ A: "up", B: "down", C: "right", D: "left", H: "home", F: "end", Z: "shift+tab", M: "enter" },
};
const namesByNumber: Readonly<Record<number, string>> = {
  ...{ 1: "home", 2: "insert", 3: "delete", 4: "end", 5: "pageup", 6: "pagedown", 7: "home", 8: "end" },
};
const namesByCode: Readonly<Record<number, string>> = {
  ...{ 9: "tab", 13: "enter", 27: "escape", 32: "space", 127: "backspace", 8: "backspace", 57414: "enter" },
};

/** Parses bytes into keys, however the bytes are split. */
export function createKeyReader(
  onKey: (key: Key) => void,
  { escapeMs = 50 }: KeyReaderOptions = {},
): KeyReader {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  let pasted: string | undefined;
  let afterReturn = false;
  let timer: NodeJS.Timeout | undefined;

  function readKeys(): void {
    while (rest !== "") {
      if (pasted !== undefined) {
        if (!readPaste()) return;
        continue;
      }
      if (rest.startsWith(pasteStart)) {
        rest = rest.slice(pasteStart.length);
        pasted = "";
        continue;
      }
      const read = parseKey(rest);
      if (read === undefined) return;
      rest = rest.slice(read.length);
      const isLineFeed = read.key?.type === "press" && read.key.name === "ctrl+j";
      // The line feed of a terminal that sends CR LF for Enter.
      if (read.key && !(isLineFeed && afterReturn)) onKey(read.key);
      afterReturn = read.length === 1 && read.key?.type === "press" && read.key.name === "enter";
    }
  }

  function readPaste(): boolean {
    const end = rest.indexOf(pasteEnd);
    if (end === -1) {
      // The end marker may be split: keep what could be its start.
      const kept = Math.min(rest.length, pasteEnd.length - 1);
      pasted += rest.slice(0, rest.length - kept);
      rest = rest.slice(rest.length - kept);
      return false;
    }
    const text = ((pasted ?? "") + rest.slice(0, end)).replace(/\r\n?/g, "\n");
    rest = rest.slice(end + pasteEnd.length);
    pasted = undefined;
    onKey({ type: "paste", text });
    return true;
  }

  /** No more input: an incomplete sequence was the Esc key. */
  function flushEscape(): void {
    afterReturn = false;
    if (pasted !== undefined || !rest.startsWith("\x1b")) return;
    const isCut = rest.length > 1;
    rest = "";
    if (!isCut) onKey({ type: "press", name: "escape" });
  }

  return {
    feed(bytes) {
      clearTimeout(timer);
      rest += decoder.write(Buffer.from(bytes));
      readKeys();
      if (rest !== "" || afterReturn) timer = setTimeout(flushEscape, escapeMs);
    },
    close: () => clearTimeout(timer),
  };
}

type ParsedKey = { readonly key?: Key; readonly length: number };

/** Parses the first key; undefined when more input is needed. An unknown sequence yields no key. */
function parseKey(text: string): ParsedKey | undefined {
  if (text.startsWith("\x1b")) return parseSequence(text);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
  const plain = /^[^\x00-\x1f\x7f\x1b]+/.exec(text)?.[0];
  if (plain) return { key: { type: "text", text: plain }, length: plain.length };
  return { ...toPress(getControlName(text.charCodeAt(0))), length: 1 };
}

function parseSequence(text: string): ParsedKey | undefined {
  if (text.length === 1) return undefined;
  if (text[1] === "[") {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
    const found = /^\x1b\[([0-?]*)[ -/]*([@-~])/.exec(text);
    if (found)
      return { ...toPress(getSequenceName(found[1] ?? "", found[2] ?? "")), length: found[0].length };
    // biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
    return /^\x1b\[[0-?]*[ -/]*$/.test(text) ? undefined : { length: 2 };
  }
  if (text[1] === "O") {
    if (text.length === 2) return undefined;
    return { ...toPress(namesByFinal[text[2] ?? ""]), length: 3 };
  }
  if (text[1] === "\x1b") return { ...toPress("escape"), length: 1 };
  const character = String.fromCodePoint(text.codePointAt(1) ?? 0);
  const code = character.codePointAt(0) ?? 0;
  const name = code < 0x20 || code === 0x7f ? getControlName(code) : character.toLowerCase();
  return { ...toPress(`alt+${name}`), length: 1 + character.length };
}

function toPress(name: string | undefined): { readonly key?: Key } {
  return name === undefined ? {} : { key: { type: "press", name } };
}

function getControlName(code: number): string {
  if (code === 13) return "enter";
  if (code === 9) return "tab";
  if (code === 8 || code === 127) return "backspace";
  if (code === 0) return "ctrl+space";
  if (code <= 26) return `ctrl+${String.fromCharCode(96 + code)}`;
  return `ctrl+${String.fromCharCode(64 + code).toLowerCase()}`;
}

/** Names `ESC [ parameters final` in its classic, `modifyOtherKeys` and kitty forms. */
function getSequenceName(parameters: string, final: string): string | undefined {
  const [first = 1, second = 1, third] = parameters.split(";").map((part) => Number.parseInt(part, 10) || 1);
  if (final === "~" && first === 27 && third !== undefined) return addModifiers(getCodeName(third), second);
  if (final === "~") return addModifiers(namesByNumber[first], second);
  if (final === "u") return addModifiers(getCodeName(first), second);
  return addModifiers(namesByFinal[final], second);
}

function getCodeName(code: number): string | undefined {
  if (namesByCode[code] !== undefined) return namesByCode[code];
  return code > 32 && code < 0xe000 ? String.fromCodePoint(code).toLowerCase() : undefined;
}

function addModifiers(name: string | undefined, modifier: number): string | undefined {
  if (name === undefined) return undefined;
  const bits = modifier - 1;
  return `${bits & 4 ? "ctrl+" : ""}${bits & 2 ? "alt+" : ""}${bits & 1 ? "shift+" : ""}${name}`;
}
