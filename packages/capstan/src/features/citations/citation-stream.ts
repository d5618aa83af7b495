import { parseCitedNumbers } from "./fragments.ts";
import { createCodeDetector } from "./markdown-code.ts";

/** Callbacks of a citation stream. */
export type CitationReader = {
  isKnown(n: number): boolean;
  /** Called for a number that has a source. */
  onCited(n: number): void;
  /** Called for a number without a source, which was removed from the text. */
  onUnknown(n: number): void;
};

export type CitationStream = {
  /** Returns the text that can be shown now. */
  push(text: string): string;
  /** Returns the text held back. More text may be pushed afterwards. */
  end(): string;
};

/** Larger numbers are taken for years and the like, unless such a source exists. */
const maxUnknownNumber = 999;
const maxGroupLength = 64;

/** A bracket that may become a citation, with the space before it. */
type HeldBracket = {
  readonly space: string;
  readonly isLineStart: boolean;
  readonly isLineHead: boolean;
  text: string;
  numbers: readonly number[] | undefined;
};

/**
 * Finds citations in streamed Markdown, wherever it is split: `[1]`, `[1, 2]`, `[1][2]`, `[1-3]`. Text passes unchanged,
 * except that numbers without a source are removed together with the space before them. Not citations: code spans and
 * fenced code, an index (`items_a[1]`), a link (`[1](…)`), a definition at the start of a line (`[1]: …`), an escaped
 * bracket.
 */
export function createCitationStream(reader: CitationReader): CitationStream {
  const code = createCodeDetector();
  const index = createIndexDetector();
  let held: HeldBracket | undefined;
  /** The space before a possible citation; removed with it. */
  let space = "";
  /** Set after a removal. At the head of a line there was no space to remove. */
  let gap: "none" | "inside" | "line-head" = "none";

  function take(character: string): string {
    if (!held) return takeFree(character);
    if (held.numbers) return settle(held, character) + takeFree(character);
    const isFirst = held.text.length === 1;
    if (character === "]" && !isFirst) {
      held.numbers = parseCitedNumbers(held.text.slice(1));
      if (held.numbers) {
        code.feed(character);
        held.text += character;
        return "";
      }
    } else if ((isFirst ? /\d/ : /[\d ,;–-]/).test(character) && held.text.length < maxGroupLength) {
      code.feed(character);
      held.text += character;
      return "";
    }
    return release(held) + takeFree(character);
  }

  function takeFree(character: string): string {
    const isLineStart = code.isLineStart();
    code.feed(character);
    const isCode = code.isCode();
    const isIndex = index.feed(character);
    if (gap !== "none") {
      if (character === " " && (space || gap === "line-head")) return "";
      if (/[\s.,;:!?)\]}]/.test(character)) space = "";
    }
    const isLineHead = gap === "line-head" || (isLineStart && space === "");
    gap = "none";
    if (character === "[" && !isCode && !isIndex) {
      held = { space, isLineStart, isLineHead, text: "[", numbers: undefined };
      space = "";
      return "";
    }
    const before = space;
    space = character === " " && !isCode ? " " : "";
    return space ? before : before + character;
  }

  function release({ space: before, text }: HeldBracket): string {
    held = undefined;
    return before + text;
  }

  function settle(citation: HeldBracket, next: string | undefined): string {
    const { known, unknown, shown } = readGroup(citation, next, reader);
    known.forEach(reader.onCited);
    unknown.forEach(reader.onUnknown);
    held = undefined;
    if (shown) return citation.space + shown;
    space = citation.space;
    gap = citation.isLineHead ? "line-head" : "inside";
    return "";
  }

  return {
    push(text) {
      let shown = "";
      for (let offset = 0; offset < text.length; offset++) shown += take(text.charAt(offset));
      return shown;
    },
    end() {
      const rest = !held ? "" : held.numbers ? settle(held, undefined) : release(held);
      const last = gap === "none" ? space : "";
      space = "";
      gap = "none";
      return rest + last;
    },
  };
}

type Group = {
  readonly known: readonly number[];
  readonly unknown: readonly number[];
  /** Empty when no number has a source. */
  readonly shown: string;
};

function readGroup(
  { text, numbers = [], isLineStart }: HeldBracket,
  next: string | undefined,
  { isKnown }: CitationReader,
): Group {
  const known = numbers.filter((n) => isKnown(n));
  const unknown = numbers.filter((n) => !isKnown(n));
  const isLink = next === "(" || (next === ":" && isLineStart);
  if (isLink || (known.length === 0 && unknown.every((n) => n > maxUnknownNumber)))
    return { known: [], unknown: [], shown: text };
  if (unknown.length === 0) return { known, unknown, shown: text };
  return { known, unknown, shown: known.length > 0 ? `[${known.join(", ")}]` : "" };
}

const maxWordLength = 64;
/** Matches variables, not words: one lowercase letter, an underscore or dollar sign, camelCase, or a common short name. */
const variable =
  /^(?:[a-z]|.*[_$].*|[a-z]{2,}[A-Z][a-z].*|arr|args|argv|buf|elem|idx|obj|ptr|str|tmp|val|vec)$/;

/** Detects brackets that are an index: after a variable, or after another index. */
function createIndexDetector(): { feed(character: string): boolean } {
  let word = "";
  let last = "";
  let position: "outside" | "inside" | "after" = "outside";
  return {
    feed(character) {
      const isIndex =
        character === "[" && (last === "\\" || position === "after" || (word !== "" && variable.test(word)));
      if (isIndex) position = "inside";
      else if (position === "inside" && character === "]") position = "after";
      else if (position === "after" || character === "\n") position = "outside";
      word = /[\w$]|[^\0-\x7f]/.test(character) && word.length < maxWordLength ? word + character : "";
      last = character;
      return isIndex;
    },
  };
}
