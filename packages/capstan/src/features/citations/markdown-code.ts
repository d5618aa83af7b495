/** Tracks which parts of a Markdown text are code, character by character. */
export type CodeDetector = {
  feed(character: string): void;
  /** Whether the next character is code. */
  isCode(): boolean;
  /** Whether the line so far has only whitespace and list or quote markers. */
  isLineStart(): boolean;
};

type Fence = { readonly mark: string; readonly length: number };

type TextMode =
  | { readonly type: "prose" }
  /** Between the opening fence and the end of its line. */
  | { readonly type: "fence_head"; readonly fence: Fence }
  | { readonly type: "fence"; readonly fence: Fence }
  | { readonly type: "span"; readonly length: number };

const prose: TextMode = { type: "prose" };

/**
 * Detects fenced blocks and code spans by the CommonMark rules, within the limits of a stream: an unclosed span ends with
 * its paragraph, an unclosed block with the text. Indented text counts as prose, because lists are indented too.
 */
export function createCodeDetector(): CodeDetector {
  let mode: TextMode = prose;
  let run: Fence & { readonly isFirst: boolean } = { mark: "", length: 0, isFirst: false };
  let isLineStart = true;
  let isBlankLine = true;
  /** Whether the current line may close the block. */
  let mayClose = false;

  function endBackticks(): void {
    const { mark, length, isFirst } = run;
    if (mode.type === "fence_head") {
      // More backticks on the opening line: this is a code span, not a fence.
      if (mark === "`" && mode.fence.mark === "`") mode = { type: "span", length: mode.fence.length };
    } else if (mode.type === "fence") {
      mayClose = isFirst && mark === mode.fence.mark && length >= mode.fence.length;
    } else if (mode.type === "prose") {
      if (isFirst && length >= 3) mode = { type: "fence_head", fence: { mark, length } };
      else if (mark === "`") mode = { type: "span", length };
      run = { mark: "", length: 0, isFirst: false };
      return;
    }
    if (mode.type === "span" && mark === "`" && length === mode.length) mode = prose;
    run = { mark: "", length: 0, isFirst: false };
  }

  function endLine(): void {
    if (mode.type === "fence_head") mode = { type: "fence", fence: mode.fence };
    else if (mode.type === "fence" && mayClose) mode = prose;
    else if (mode.type === "span" && isBlankLine) mode = prose;
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
    isCode: () => mode.type !== "prose",
    isLineStart: () => isLineStart,
  };
}
