/** Tells where a Markdown text that comes character by character is code. */
export type CodeDetector = {
  feed(character: string): void;
  /** Whether the next character is code. */
  isCode(): boolean;
  /** Whether the line has nothing so far but space and marks of lists and quotes. */
  isLineStart(): boolean;
};

type Fence = { readonly mark: string; readonly length: number };

type TextMode =
  | { readonly type: "prose" }
  /** Between the marks of a fence and the end of their line. */
  | { readonly type: "fence_head"; readonly fence: Fence }
  | { readonly type: "fence"; readonly fence: Fence }
  | { readonly type: "span"; readonly length: number };

const prose: TextMode = { type: "prose" };

/**
 * Fenced blocks and code spans, by the rules of CommonMark as far as a stream allows: a span that is not closed ends with
 * its paragraph, a block that is not closed with the text. Indented text is prose, for lists indent too.
 */
export function createCodeDetector(): CodeDetector {
  let place: TextMode = prose;
  let run: Fence & { readonly isFirst: boolean } = { mark: "", length: 0, isFirst: false };
  let isLineStart = true;
  let isBlankLine = true;
  /** The line may turn out to close the block. */
  let mayClose = false;

  function endBackticks(): void {
    const { mark, length, isFirst } = run;
    if (place.type === "fence_head") {
      // Marks after a head of backticks: it was a span on one line.
      if (mark === "`" && place.fence.mark === "`") place = { type: "span", length: place.fence.length };
    } else if (place.type === "fence") {
      mayClose = isFirst && mark === place.fence.mark && length >= place.fence.length;
    } else if (place.type === "prose") {
      if (isFirst && length >= 3) place = { type: "fence_head", fence: { mark, length } };
      else if (mark === "`") place = { type: "span", length };
      run = { mark: "", length: 0, isFirst: false };
      return;
    }
    if (place.type === "span" && mark === "`" && length === place.length) place = prose;
    run = { mark: "", length: 0, isFirst: false };
  }

  function endLine(): void {
    if (place.type === "fence_head") place = { type: "fence", fence: place.fence };
    else if (place.type === "fence" && mayClose) place = prose;
    else if (place.type === "span" && isBlankLine) place = prose;
    mayClose = false;
    isLineStart = true;
    isBlankLine = true;
  }

  return {
    feed(character) {
      if (run.length > 0) {
        if (character === run.mark) {
          run = { ...run, length: run.length + 1 };
          return;
        }
        endBackticks();
      }
      if (character === "\n") endLine();
      else if (character === "`" || character === "~") {
        run = { mark: character, length: 1, isFirst: isLineStart };
        isLineStart = false;
        isBlankLine = false;
      } else if (character !== " " && character !== "\t" && character !== "\r") {
        isBlankLine = false;
        mayClose = false;
        if (!/[>*+.)\d-]/.test(character)) isLineStart = false;
      }
    },
    isCode: () => place.type !== "prose",
    isLineStart: () => isLineStart,
  };
}
