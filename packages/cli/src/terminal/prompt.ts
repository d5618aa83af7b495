import { type Candidate, completableAt } from "./completion.ts";
import { type EditorState, edit, emptyEditor, withText } from "./editor.ts";
import type { Key } from "./keys.ts";
import type { LiveRegion } from "./screen.ts";
import type { Style } from "./style.ts";
import { charactersOf, shortened, widthOf } from "./wrap.ts";

/** Where a person types: an editor, and the list of what the word could be. */
export interface Prompt {
  readonly text: string;
  /** Gives the text when it was sent off; `unused` when the key is for somebody else. */
  press(key: Key): { readonly submitted: string } | "used" | "unused";
  set(text: string): void;
  /** What a word could be is known now. */
  offer(word: string, candidates: readonly Candidate[]): void;
  /** The word somebody should look up. */
  readonly wanted: { readonly kind: "command" | "file"; readonly word: string } | undefined;
  render(columns: number, look: PromptLook): LiveRegion;
}

/** How a prompt is drawn. */
export type PromptLook = {
  readonly style: Style;
  /** Before the first line; two columns. */
  readonly mark: string;
  /** In place of an empty text. */
  readonly hint: string;
};

type List = { readonly word: string; readonly candidates: readonly Candidate[]; readonly chosen: number };

const mostRows = 10;
const mostOffered = 6;

/** A prompt with what was typed earlier. */
export function prompt(history: readonly string[]): Prompt {
  let state: EditorState = emptyEditor(history);
  let list: List | undefined;
  let dismissed: string | undefined;
  const wanted = () => {
    const found = completableAt(state.text, state.cursor);
    return found?.word === dismissed ? undefined : found;
  };
  const listed = () =>
    list && list.candidates.length > 0 && wanted()?.word === list.word ? list : undefined;

  function accept({ candidates, chosen }: List): void {
    const found = wanted();
    const candidate = candidates[chosen];
    if (!found || !candidate) return;
    const end = candidate.text.endsWith("/") ? "" : " ";
    const before = state.text.slice(0, found.from) + candidate.text + end;
    const after = state.text.slice(state.cursor).replace(/^ /, "");
    state = { ...state, text: before + after, cursor: before.length };
    list = undefined;
  }

  function pressList(key: Key, open: List): boolean {
    if (key.type !== "press") return false;
    const { candidates, chosen, word } = open;
    const isWhole = candidates[chosen]?.text === word;
    if (key.name === "up" || key.name === "down") {
      const by = key.name === "up" ? candidates.length - 1 : 1;
      list = { ...open, chosen: (chosen + by) % candidates.length };
    } else if (key.name === "escape") dismissed = word;
    else if (key.name === "tab" || (key.name === "enter" && !isWhole)) accept(open);
    else return false;
    return true;
  }

  return {
    get text() {
      return state.text;
    },
    get wanted() {
      return wanted();
    },
    press(key) {
      const open = listed();
      if (open && pressList(key, open)) return "used";
      const next = edit(state, key);
      if (next === undefined) return "unused";
      if (next === "submit") {
        const submitted = state.text;
        state = { ...emptyEditor(history), killed: state.killed };
        return { submitted };
      }
      state = next;
      if (wanted()?.word !== dismissed) dismissed = undefined;
      return "used";
    },
    set(text) {
      state = { ...withText(emptyEditor(history), text), killed: state.killed };
    },
    offer: (word, candidates) => {
      if (wanted()?.word === word) list = { word, candidates, chosen: 0 };
    },
    render: (columns, look) => joined(editorRows(state, columns, look), listRows(listed(), columns, look)),
  };
}

function joined(region: LiveRegion, below: readonly string[]): LiveRegion {
  return { ...region, rows: [...region.rows, ...below] };
}

function editorRows({ text, cursor }: EditorState, columns: number, look: PromptLook): LiveRegion {
  const { style, mark, hint } = look;
  if (text === "") {
    const shown = style.dim(shortened(hint, columns - 3));
    return { rows: [`${mark}${shown}`], cursor: { row: 0, column: 2 } };
  }
  const rows = [""];
  let width = 0;
  let place = { row: 0, column: 0 };
  let index = 0;
  for (const character of charactersOf(text)) {
    if (index === cursor) place = { row: rows.length - 1, column: width };
    index += character.length;
    const own = widthOf(character);
    if (character === "\n" || width + own > columns - 3) {
      rows.push("");
      width = 0;
      if (index - character.length === cursor && character !== "\n")
        place = { row: rows.length - 1, column: 0 };
    }
    if (character === "\n") continue;
    rows[rows.length - 1] += character;
    width += own;
  }
  if (index === cursor) place = { row: rows.length - 1, column: width };
  const first = Math.max(0, Math.min(place.row - mostRows + 1, rows.length - mostRows));
  const seen = rows.slice(first, first + mostRows);
  return {
    rows: seen.map((row, n) => `${first + n === 0 ? mark : "  "}${row}`),
    cursor: { row: place.row - first, column: place.column + 2 },
  };
}

function listRows(list: List | undefined, columns: number, { style }: PromptLook): string[] {
  if (!list) return [];
  const { candidates, chosen } = list;
  const first = Math.max(0, Math.min(chosen - 2, candidates.length - mostOffered));
  const seen = candidates.slice(first, first + mostOffered);
  const room = Math.min(Math.max(...seen.map(({ text }) => widthOf(text))), Math.floor(columns * 0.6));
  const rows = seen.map(({ text, about = "" }, n) => {
    const name = shortened(text, columns - 4).padEnd(about ? room : 0);
    const words = shortened(about, columns - widthOf(name) - 7);
    const isChosen = first + n === chosen;
    const row = `${isChosen ? style.cyan(name) : name}${words ? `   ${style.dim(words)}` : ""}`;
    return `${isChosen ? style.cyan("›") : " "} ${row}`;
  });
  const left = candidates.length - first - seen.length;
  return left > 0 ? [...rows, style.dim(`  … ${left} more`)] : rows;
}
