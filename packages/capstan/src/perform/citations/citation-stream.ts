import { parseCitedNumbers } from "../../state/citations.ts";
import { createCodeDetector } from "./markdown-code.ts";

/** What a stream of text tells while it is read. */
export type CitationReader = {
  isKnown(n: number): boolean;
  /** A number that stands in the text and has a source. */
  onCited(n: number): void;
  /** A number that had none, and was taken out of the text. */
  onUnknown(n: number): void;
};

export type CitationStream = {
  /** What can be shown by now. */
  push(text: string): string;
  /** What was held back. More text may follow: it goes on where this ends. */
  end(): string;
};

/** Numbers above this are years and the like, unless there are so many sources. */
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
 * Finds citations in Markdown that comes in pieces, wherever it is cut: `[1]`, `[1, 2]`, `[1][2]`, `[1-3]`. Text passes
 * as it is, but for numbers without a source, which are taken out with the space before them. Not citations, and left
 * alone: what is in code spans and fenced code, an index (`items_a[1]`), a link (`[1](…)`), a definition at the start of
 * a line (`[1]: …`), an escaped bracket.
 */
export function createCitationStream(reader: CitationReader): CitationStream {
  const code = createCodeDetector();
  const index = createIndexDetector();
  let held: HeldBracket | undefined;
  /** A space that goes with the citation it precedes. */
  let space = "";
  /** Something was just taken out; at the head of a line no space was before it. */
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
      for (let at = 0; at < text.length; at++) shown += take(text.charAt(at));
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
  /** Nothing when no number of it has a source. */
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
/** How variables look and words do not: one small letter, an underscore or dollar sign, camelCase, or a usual short name. */
const variable =
  /^(?:[a-z]|.*[_$].*|[a-z]{2,}[A-Z][a-z].*|arr|args|argv|buf|elem|idx|obj|ptr|str|tmp|val|vec)$/;

/** Tells whether a bracket is an index: after a variable, or after another index. */
function createIndexDetector(): { feed(character: string): boolean } {
  let word = "";
  let last = "";
  let place: "outside" | "inside" | "after" = "outside";
  return {
    feed(character) {
      const isIndex =
        character === "[" && (last === "\\" || place === "after" || (word !== "" && variable.test(word)));
      if (isIndex) place = "inside";
      else if (place === "inside" && character === "]") place = "after";
      else if (place === "after" || character === "\n") place = "outside";
      word = /[\w$]|[^\0-\x7f]/.test(character) && word.length < maxWordLength ? word + character : "";
      last = character;
      return isIndex;
    },
  };
}
