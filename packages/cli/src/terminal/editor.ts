import { escapeTerminal } from "./escape-terminal.ts";
import type { Key } from "./keys.ts";
import { splitCharacters } from "./wrap.ts";

/** State of the text editor. */
export type EditorState = {
  readonly text: string;
  /** Index into the text, always between two graphemes. */
  readonly cursor: number;
  /** Last killed text. */
  readonly killed: string;
  /** Previous prompts, oldest first. */
  readonly history: readonly string[];
  /** Index of the recalled prompt; undefined while the user's own text is shown. */
  readonly historyIndex?: number | undefined;
  /** The user's own text while a previous prompt is shown. */
  readonly draft: string;
};

/** Returns an empty editor. */
export function createEditor(history: readonly string[] = []): EditorState {
  return { text: "", cursor: 0, killed: "", history, draft: "" };
}

/** Returns the state with another text and the cursor at its end. */
export function withText(state: EditorState, text: string): EditorState {
  return { ...state, text, cursor: text.length, historyIndex: undefined };
}

/** Returns the new state, `submit`, or undefined when the editor does not use the key. */
export function applyKey(state: EditorState, key: Key): EditorState | "submit" | undefined {
  if (key.type === "text") return insertText(state, key.text);
  // Pasted text may contain control characters.
  if (key.type === "paste") return insertText(state, escapeTerminal(key.text));
  if (key.name === "enter") return handleEnter(state);
  if (key.name.startsWith("shift+") && key.name.length === 7)
    return insertText(state, key.name.slice(6).toUpperCase());
  return keyBindings[key.name]?.(state);
}

type EditorCommand = (state: EditorState) => EditorState;

const keyBindings: Readonly<Record<string, EditorCommand>> = {
  "shift+enter": (state) => insertText(state, "\n"),
  "alt+enter": (state) => insertText(state, "\n"),
  "ctrl+j": (state) => insertText(state, "\n"),
  "shift+space": (state) => insertText(state, " "),
  left: (state) => moveCursor(state, findPreviousCharacter(state)),
  right: (state) => moveCursor(state, findNextCharacter(state)),
  "ctrl+b": (state) => moveCursor(state, findPreviousCharacter(state)),
  "ctrl+f": (state) => moveCursor(state, findNextCharacter(state)),
  "alt+left": (state) => moveCursor(state, findPreviousWord(state)),
  "alt+right": (state) => moveCursor(state, findNextWord(state)),
  "ctrl+left": (state) => moveCursor(state, findPreviousWord(state)),
  "ctrl+right": (state) => moveCursor(state, findNextWord(state)),
  "alt+b": (state) => moveCursor(state, findPreviousWord(state)),
  "alt+f": (state) => moveCursor(state, findNextWord(state)),
  home: (state) => moveCursor(state, findLineStart(state)),
  end: (state) => moveCursor(state, findLineEnd(state)),
  "ctrl+a": (state) => moveCursor(state, findLineStart(state)),
  "ctrl+e": (state) => moveCursor(state, findLineEnd(state)),
  backspace: (state) => removeText(state, findPreviousCharacter(state)),
  "shift+backspace": (state) => removeText(state, findPreviousCharacter(state)),
  delete: (state) => removeText(state, findNextCharacter(state)),
  "ctrl+d": (state) => removeText(state, findNextCharacter(state)),
  "ctrl+w": (state) => killText(state, findPreviousWord(state)),
  "alt+backspace": (state) => killText(state, findPreviousWord(state)),
  "ctrl+backspace": (state) => killText(state, findPreviousWord(state)),
  "alt+d": (state) => killText(state, findNextWord(state)),
  "ctrl+u": (state) => killText(state, findLineStart(state)),
  "ctrl+k": (state) =>
    killText(state, findLineEnd(state) === state.cursor ? findNextCharacter(state) : findLineEnd(state)),
  "ctrl+y": (state) => insertText(state, state.killed),
  up: (state) => moveVertically(state, -1),
  down: (state) => moveVertically(state, 1),
  "ctrl+p": (state) => recallHistory(state, -1),
  "ctrl+n": (state) => recallHistory(state, 1),
};

/** Enter after a backslash inserts a line break, for terminals that do not report Shift+Enter. */
function handleEnter(state: EditorState): EditorState | "submit" {
  if (state.text[state.cursor - 1] !== "\\") return "submit";
  return insertText({ ...removeText(state, state.cursor - 1) }, "\n");
}

function insertText(state: EditorState, text: string): EditorState {
  const { text: before, cursor } = state;
  return {
    ...state,
    text: before.slice(0, cursor) + text + before.slice(cursor),
    cursor: cursor + text.length,
    historyIndex: undefined,
  };
}

function moveCursor(state: EditorState, cursor: number): EditorState {
  return { ...state, cursor };
}

/** Removes the text between the cursor and `to`. */
function removeText(state: EditorState, to: number): EditorState {
  const start = Math.min(state.cursor, to);
  const end = Math.max(state.cursor, to);
  return {
    ...state,
    text: state.text.slice(0, start) + state.text.slice(end),
    cursor: start,
    historyIndex: undefined,
  };
}

function killText(state: EditorState, to: number): EditorState {
  const killed = state.text.slice(Math.min(state.cursor, to), Math.max(state.cursor, to));
  return killed === "" ? state : { ...removeText(state, to), killed };
}

function findPreviousCharacter({ text, cursor }: EditorState): number {
  return cursor - (splitCharacters(text.slice(0, cursor)).at(-1)?.length ?? 0);
}

function findNextCharacter({ text, cursor }: EditorState): number {
  return cursor + (splitCharacters(text.slice(cursor, cursor + 64))[0]?.length ?? 0);
}

function findPreviousWord({ text, cursor }: EditorState): number {
  return cursor - (/[\p{L}\p{N}\p{M}_]*[^\p{L}\p{N}\p{M}_]*$/u.exec(text.slice(0, cursor))?.[0].length ?? 0);
}

function findNextWord({ text, cursor }: EditorState): number {
  return cursor + (/^[^\p{L}\p{N}\p{M}_]*[\p{L}\p{N}\p{M}_]*/u.exec(text.slice(cursor))?.[0].length ?? 0);
}

function findLineStart({ text, cursor }: EditorState): number {
  return text.lastIndexOf("\n", cursor - 1) + 1;
}

function findLineEnd({ text, cursor }: EditorState): number {
  const end = text.indexOf("\n", cursor);
  return end === -1 ? text.length : end;
}

/** Moves to the line above or below; beyond the first or last line, recalls the history. */
function moveVertically(state: EditorState, by: -1 | 1): EditorState {
  const start = findLineStart(state);
  const end = findLineEnd(state);
  if (by === -1 ? start === 0 : end === state.text.length) return recallHistory(state, by);
  const there = by === -1 ? { ...state, cursor: start - 1 } : { ...state, cursor: end + 1 };
  const line = splitCharacters(state.text.slice(findLineStart(there), findLineEnd(there)));
  const column = splitCharacters(state.text.slice(start, state.cursor)).length;
  return moveCursor(state, findLineStart(there) + line.slice(0, column).join("").length);
}

function recallHistory(state: EditorState, by: -1 | 1): EditorState {
  const { history, historyIndex: at = history.length } = state;
  const next = at + by;
  if (next < 0 || next > history.length) return state;
  const draft = state.historyIndex === undefined ? state.text : state.draft;
  const text = next === history.length ? draft : (history[next] ?? "");
  return {
    ...state,
    draft,
    text,
    cursor: text.length,
    historyIndex: next === history.length ? undefined : next,
  };
}
