import { type Candidate, findCompletionTarget } from "./completion.ts";
import { applyKey, createEditor, type EditorState, withText } from "./editor.ts";
import { escapeTerminal } from "./escape-terminal.ts";
import type { Key } from "./keys.ts";
import { createPastes, type Pastes } from "./pastes.ts";
import type { LiveRegion } from "./screen.ts";
import type { Style } from "./style.ts";
import { measureWidth, splitCharacters, truncateColumns } from "./wrap.ts";

/** An input prompt: an editor and a completion list. */
export interface Prompt {
  readonly text: string;
  /** Returns the text when submitted; `unused` when the prompt does not use the key. */
  pressKey(key: Key): { readonly submitted: string } | "used" | "unused";
  setText(text: string): void;
  /** Sets the completions of a word. */
  setCandidates(word: string, candidates: readonly Candidate[]): void;
  /** The word to look up completions for. */
  readonly completionTarget: { readonly kind: "command" | "file"; readonly word: string } | undefined;
  render(columns: number, look: PromptLook): LiveRegion;
}

/** Appearance of a prompt. */
export type PromptLook = {
  readonly style: Style;
  /** Shown before the first line; two columns wide. */
  readonly mark: string;
  /** Shown while the text is empty. */
  readonly hint: string;
};

type CandidateList = {
  readonly word: string;
  readonly candidates: readonly Candidate[];
  readonly chosen: number;
};

const maxRows = 10;
const maxCandidateRows = 6;

/** Creates a prompt with a history. */
export function createPrompt(history: readonly string[]): Prompt {
  let state: EditorState = createEditor(history);
  const pastes = createPastes();
  let list: CandidateList | undefined;
  let dismissed: string | undefined;
  const findTarget = () => {
    const found = findCompletionTarget(state.text, state.cursor);
    return found?.word === dismissed ? undefined : found;
  };
  const getOpenList = () =>
    list && list.candidates.length > 0 && findTarget()?.word === list.word ? list : undefined;

  function acceptCandidate({ candidates, chosen }: CandidateList): void {
    const found = findTarget();
    const candidate = candidates[chosen];
    if (!found || !candidate) return;
    const end = candidate.text.endsWith("/") ? "" : " ";
    const before = state.text.slice(0, found.from) + candidate.text + end;
    const after = state.text.slice(state.cursor).replace(/^ /, "");
    state = { ...state, text: before + after, cursor: before.length };
    list = undefined;
  }

  function pressListKey(key: Key, open: CandidateList): boolean {
    if (key.type !== "press") return false;
    const { candidates, chosen, word } = open;
    const isWhole = candidates[chosen]?.text === word;
    if (key.name === "up" || key.name === "down") {
      const by = key.name === "up" ? candidates.length - 1 : 1;
      list = { ...open, chosen: (chosen + by) % candidates.length };
    } else if (key.name === "escape") dismissed = word;
    else if (key.name === "tab" || (key.name === "enter" && !isWhole)) acceptCandidate(open);
    else return false;
    return true;
  }

  return {
    get text() {
      return pastes.expand(state.text);
    },
    get completionTarget() {
      return findTarget();
    },
    pressKey(key) {
      const open = getOpenList();
      if (open && pressListKey(key, open)) return "used";
      const next = applyKey(
        state,
        key.type === "paste" ? { ...key, text: pastes.collapse(escapeTerminal(key.text)) } : key,
      );
      if (next === undefined) return "unused";
      if (next === "submit") {
        const submitted = pastes.expand(state.text);
        state = { ...createEditor(history), killed: state.killed };
        return { submitted };
      }
      state = next;
      if (findTarget()?.word !== dismissed) dismissed = undefined;
      return "used";
    },
    setText(text) {
      state = { ...withText(createEditor(history), text), killed: state.killed };
    },
    setCandidates: (word, candidates) => {
      if (findTarget()?.word === word) list = { word, candidates, chosen: 0 };
    },
    render: (columns, look) =>
      appendRows(
        renderEditor(state, columns, { ...look, pastes }),
        renderCandidates(getOpenList(), columns, look),
      ),
  };
}

function appendRows(region: LiveRegion, below: readonly string[]): LiveRegion {
  return { ...region, rows: [...region.rows, ...below] };
}

function renderEditor(
  { text, cursor }: EditorState,
  columns: number,
  { style, mark, hint, pastes }: PromptLook & { readonly pastes: Pastes },
): LiveRegion {
  if (text === "") {
    const shown = style.dim(truncateColumns(hint, columns - 3));
    return { rows: [`${mark}${shown}`], cursor: { row: 0, column: 2 } };
  }
  const rows = [""];
  let width = 0;
  let place = { row: 0, column: 0 };
  let index = 0;
  for (const character of splitCharacters(text)) {
    if (index === cursor) place = { row: rows.length - 1, column: width };
    index += character.length;
    const label = pastes.findLabel(character);
    const own = measureWidth(label ?? character);
    if (character === "\n" || width + own > columns - 3) {
      rows.push("");
      width = 0;
      if (index - character.length === cursor && character !== "\n")
        place = { row: rows.length - 1, column: 0 };
    }
    if (character === "\n") continue;
    rows[rows.length - 1] += label === undefined ? character : style.dim(label);
    width += own;
  }
  if (index === cursor) place = { row: rows.length - 1, column: width };
  const first = Math.max(0, Math.min(place.row - maxRows + 1, rows.length - maxRows));
  const seen = rows.slice(first, first + maxRows);
  return {
    rows: seen.map((row, n) => `${first + n === 0 ? mark : "  "}${row}`),
    cursor: { row: place.row - first, column: place.column + 2 },
  };
}

function renderCandidates(list: CandidateList | undefined, columns: number, { style }: PromptLook): string[] {
  if (!list) return [];
  const { candidates, chosen } = list;
  const first = Math.max(0, Math.min(chosen - 2, candidates.length - maxCandidateRows));
  const seen = candidates.slice(first, first + maxCandidateRows);
  const room = Math.min(Math.max(...seen.map(({ text }) => measureWidth(text))), Math.floor(columns * 0.6));
  const rows = seen.map(({ text, about = "" }, n) => {
    const name = truncateColumns(text, columns - 4).padEnd(about ? room : 0);
    const words = truncateColumns(about, columns - measureWidth(name) - 7);
    const isChosen = first + n === chosen;
    const row = `${isChosen ? style.cyan(name) : name}${words ? `   ${style.dim(words)}` : ""}`;
    return `${isChosen ? style.cyan("›") : " "} ${row}`;
  });
  const left = candidates.length - first - seen.length;
  return left > 0 ? [...rows, style.dim(`  … ${left} more`)] : rows;
}
