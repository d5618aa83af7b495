import type { AssistantEntry, Event } from "capstan";
import { harmlessLine } from "../terminal/escape-terminal.ts";
import { type MarkdownStream, markdownStream } from "../terminal/markdown-stream.ts";
import { shortened } from "../terminal/wrap.ts";
import { duration } from "./format-usage.ts";
import type { View } from "./view.ts";

/** What the model says: its thoughts in one line while they come, its text as soon as a block of it is whole. */
export interface AnswerStream {
  hear(event: Event): void;
  /** A whole text; of one that was streamed, what is still missing. */
  say(text: string): void;
  /** Nothing more will come of what has begun. */
  rest(): void;
  live(columns: number): string[];
  /** What was said last, so that it is not said twice. */
  readonly lastText: string;
}

export type AnswerStreamParts = {
  readonly view: View;
  now(): number;
  /** The model has thought this. */
  onThought(text: string): void;
};

/** The words of the model on a view. */
export function answerStream({ view, now, onThought }: AnswerStreamParts): AnswerStream {
  const { style } = view;
  const words = printedText(view);
  let lastText = "";
  let thought = { text: "", from: 0 };
  let thoughtLast = "";
  /** Pieces of a message whose beginning was not heard make no sense. */
  let isWhole = false;

  function endThought(): void {
    if (thought.text.trim() !== "") {
      thoughtLast = thought.text;
      onThought(thought.text);
      const ms = now() - thought.from;
      const words = `∴ thought for ${ms < 1000 ? "a moment" : duration(ms)} (Ctrl-O)`;
      view.print([style.dim(shortened(words, view.columns()))]);
    }
    thought = { text: "", from: 0 };
  }
  function say(text: string): void {
    words.complete(text);
    lastText = text;
  }
  function hearMessage(entry: AssistantEntry, ms: number): void {
    const parts = (type: "text" | "reasoning") =>
      entry.parts.map((part) => (part.type === type ? part.text : "")).join("");
    if (thought.text === "" && parts("reasoning") !== thoughtLast)
      thought = { text: parts("reasoning"), from: now() - ms };
    endThought();
    thoughtLast = "";
    say(parts("text"));
  }

  return {
    hear(event) {
      if (event.type === "turn_start" || event.type === "recovered") {
        isWhole = true;
        words.reset();
      } else if (event.type === "reasoning_delta") {
        if (thought.text === "") thought = { text: "", from: now() };
        thought.text += event.delta;
      } else if (event.type === "content_delta" && isWhole) {
        endThought();
        words.push(event.delta);
      } else if (event.type === "message_restart") {
        if (words.isBegun) view.print([style.dim("· The answer begins again.")]);
        words.reset();
        thought = { text: "", from: 0 };
      } else if (event.type === "message") hearMessage(event.entry, event.ms);
    },
    say,
    rest() {
      endThought();
      words.finish();
      isWhole = false;
    },
    live(columns) {
      const line = `∴ ${lastLine(thought.text, columns - 2)}`;
      return [...(thought.text.trim() === "" ? [] : ["", style.dim(line)]), ...words.live()];
    },
    get lastText() {
      return lastText;
    },
  };
}

type PrintedText = {
  push(piece: string): void;
  /** The text is this: prints what of it is not there yet. */
  complete(text: string): void;
  finish(): void;
  reset(): void;
  live(): string[];
  readonly isBegun: boolean;
};

/** One text after the other, each with an empty line before it. */
function printedText(view: View): PrintedText {
  const fresh = () => markdownStream({ style: view.style, columns: view.columns });
  let markdown: MarkdownStream = fresh();
  let said = "";
  let isBegun = false;
  const put = (lines: readonly string[]) => {
    if (lines.length === 0) return;
    const print = isBegun ? view.append : view.print;
    isBegun = true;
    print(lines);
  };
  const reset = () => {
    markdown = fresh();
    said = "";
    isBegun = false;
  };
  const finish = () => {
    put(markdown.end());
    reset();
  };
  const push = (piece: string) => {
    said += piece;
    put(markdown.push(piece));
  };
  return {
    push,
    complete(text) {
      if (!text.startsWith(said)) reset();
      push(text.slice(said.length));
      finish();
    },
    finish,
    reset,
    live() {
      const lines = markdown.live();
      return lines.length === 0 || isBegun ? lines : ["", ...lines];
    },
    get isBegun() {
      return isBegun;
    },
  };
}

function lastLine(text: string, columns: number): string {
  const line = harmlessLine(text.trimEnd().split("\n").at(-1) ?? "");
  return shortened(line.length > columns ? `…${line.slice(-(columns - 2)).toWellFormed()}` : line, columns);
}
