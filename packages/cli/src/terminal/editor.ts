import { harmless } from "./escape-terminal.ts";
import type { Key } from "./keys.ts";
import { charactersOf } from "./wrap.ts";

/** A text that is being written, and where in it. */
export type EditorState = {
  readonly text: string;
  /** An index of the text, always between two characters. */
  readonly cursor: number;
  /** What was cut last. */
  readonly killed: string;
  /** What was said earlier, oldest first. */
  readonly history: readonly string[];
  /** Which of it is shown; undefined while the person's own text is. */
  readonly at?: number | undefined;
  /** The person's own text, while an older one is shown. */
  readonly draft: string;
};

/** The state of an editor in which nothing was written. */
export function emptyEditor(history: readonly string[] = []): EditorState {
  return { text: "", cursor: 0, killed: "", history, draft: "" };
}

/** The state with another text and the cursor at its end. */
export function withText(state: EditorState, text: string): EditorState {
  return { ...state, text, cursor: text.length, at: undefined };
}

/** What a key does to the text: a new state, `submit`, or undefined when the key is not for an editor. */
export function edit(state: EditorState, key: Key): EditorState | "submit" | undefined {
  if (key.type === "text") return insert(state, key.text);
  // What was copied somewhere may hold what no key can type.
  if (key.type === "paste") return insert(state, harmless(key.text));
  if (key.name === "enter") return enter(state);
  if (key.name.startsWith("shift+") && key.name.length === 7)
    return insert(state, key.name.slice(6).toUpperCase());
  return presses[key.name]?.(state);
}

type Change = (state: EditorState) => EditorState;

const presses: Readonly<Record<string, Change>> = {
  "shift+enter": (state) => insert(state, "\n"),
  "alt+enter": (state) => insert(state, "\n"),
  "ctrl+j": (state) => insert(state, "\n"),
  "shift+space": (state) => insert(state, " "),
  left: (state) => move(state, left(state)),
  right: (state) => move(state, right(state)),
  "ctrl+b": (state) => move(state, left(state)),
  "ctrl+f": (state) => move(state, right(state)),
  "alt+left": (state) => move(state, wordLeft(state)),
  "alt+right": (state) => move(state, wordRight(state)),
  "ctrl+left": (state) => move(state, wordLeft(state)),
  "ctrl+right": (state) => move(state, wordRight(state)),
  "alt+b": (state) => move(state, wordLeft(state)),
  "alt+f": (state) => move(state, wordRight(state)),
  home: (state) => move(state, lineStart(state)),
  end: (state) => move(state, lineEnd(state)),
  "ctrl+a": (state) => move(state, lineStart(state)),
  "ctrl+e": (state) => move(state, lineEnd(state)),
  backspace: (state) => remove(state, left(state)),
  "shift+backspace": (state) => remove(state, left(state)),
  delete: (state) => remove(state, right(state)),
  "ctrl+d": (state) => remove(state, right(state)),
  "ctrl+w": (state) => kill(state, wordLeft(state)),
  "alt+backspace": (state) => kill(state, wordLeft(state)),
  "ctrl+backspace": (state) => kill(state, wordLeft(state)),
  "alt+d": (state) => kill(state, wordRight(state)),
  "ctrl+u": (state) => kill(state, lineStart(state)),
  "ctrl+k": (state) => kill(state, lineEnd(state) === state.cursor ? right(state) : lineEnd(state)),
  "ctrl+y": (state) => insert(state, state.killed),
  up: (state) => vertical(state, -1),
  down: (state) => vertical(state, 1),
  "ctrl+p": (state) => recall(state, -1),
  "ctrl+n": (state) => recall(state, 1),
};

/** A backslash before the cursor makes Enter a line break, for terminals that cannot tell Shift+Enter. */
function enter(state: EditorState): EditorState | "submit" {
  if (state.text[state.cursor - 1] !== "\\") return "submit";
  return insert({ ...remove(state, state.cursor - 1) }, "\n");
}

function insert(state: EditorState, text: string): EditorState {
  const { text: before, cursor } = state;
  return {
    ...state,
    text: before.slice(0, cursor) + text + before.slice(cursor),
    cursor: cursor + text.length,
    at: undefined,
  };
}

function move(state: EditorState, cursor: number): EditorState {
  return { ...state, cursor };
}

/** Takes out what is between the cursor and a place. */
function remove(state: EditorState, to: number): EditorState {
  const start = Math.min(state.cursor, to);
  const end = Math.max(state.cursor, to);
  return {
    ...state,
    text: state.text.slice(0, start) + state.text.slice(end),
    cursor: start,
    at: undefined,
  };
}

function kill(state: EditorState, to: number): EditorState {
  const killed = state.text.slice(Math.min(state.cursor, to), Math.max(state.cursor, to));
  return killed === "" ? state : { ...remove(state, to), killed };
}

function left({ text, cursor }: EditorState): number {
  return cursor - (charactersOf(text.slice(0, cursor)).at(-1)?.length ?? 0);
}

function right({ text, cursor }: EditorState): number {
  return cursor + (charactersOf(text.slice(cursor, cursor + 64))[0]?.length ?? 0);
}

function wordLeft({ text, cursor }: EditorState): number {
  return cursor - (/[\p{L}\p{N}\p{M}_]*[^\p{L}\p{N}\p{M}_]*$/u.exec(text.slice(0, cursor))?.[0].length ?? 0);
}

function wordRight({ text, cursor }: EditorState): number {
  return cursor + (/^[^\p{L}\p{N}\p{M}_]*[\p{L}\p{N}\p{M}_]*/u.exec(text.slice(cursor))?.[0].length ?? 0);
}

function lineStart({ text, cursor }: EditorState): number {
  return text.lastIndexOf("\n", cursor - 1) + 1;
}

function lineEnd({ text, cursor }: EditorState): number {
  const end = text.indexOf("\n", cursor);
  return end === -1 ? text.length : end;
}

/** To the line above or below; beyond the first and the last one, to what was said earlier or later. */
function vertical(state: EditorState, by: -1 | 1): EditorState {
  const start = lineStart(state);
  const end = lineEnd(state);
  if (by === -1 ? start === 0 : end === state.text.length) return recall(state, by);
  const there = by === -1 ? { ...state, cursor: start - 1 } : { ...state, cursor: end + 1 };
  const line = charactersOf(state.text.slice(lineStart(there), lineEnd(there)));
  const column = charactersOf(state.text.slice(start, state.cursor)).length;
  return move(state, lineStart(there) + line.slice(0, column).join("").length);
}

function recall(state: EditorState, by: -1 | 1): EditorState {
  const { history, at = history.length } = state;
  const next = at + by;
  if (next < 0 || next > history.length) return state;
  const draft = state.at === undefined ? state.text : state.draft;
  const text = next === history.length ? draft : (history[next] ?? "");
  return { ...state, draft, text, cursor: text.length, at: next === history.length ? undefined : next };
}
