import { type AssistantEntry, type Event, formatMedia, getAnswerText, getMedia } from "capstan";
import { restartsMessage } from "capstan/client";
import { escapeTerminalLine } from "../terminal/escape-terminal.ts";
import { createMarkdownStream, type MarkdownStream } from "../terminal/markdown-stream.ts";
import { truncateColumns } from "../terminal/wrap.ts";
import { formatDuration } from "./format-usage.ts";
import type { View } from "./view.ts";

/** Prints the model's output: reasoning as one live line, text block by block as blocks are complete. */
export interface AnswerStream {
  handleEvent(event: Event): void;
  /** Prints a complete text; of a streamed text only the rest. */
  printText(text: string): void;
  /** Prints what is still open: nothing more will arrive. */
  finish(): void;
  renderLive(columns: number): string[];
  /** The last printed text, to avoid printing it twice. */
  readonly lastText: string;
}

export type AnswerStreamOptions = {
  readonly view: View;
  getTime(): number;
  /** Called with the completed reasoning. */
  onThought(text: string): void;
};

export function createAnswerStream({ view, getTime, onThought }: AnswerStreamOptions): AnswerStream {
  const { style } = view;
  const printer = createTextPrinter(view);
  let lastText = "";
  let thought = { text: "", from: 0 };
  let lastThought = "";
  /** Deltas are shown only when the start of the message was received. */
  let sawStart = false;

  function endThought(): void {
    if (thought.text.trim() !== "") {
      lastThought = thought.text;
      onThought(thought.text);
      const ms = getTime() - thought.from;
      const printer = `∴ thought for ${ms < 1000 ? "a moment" : formatDuration(ms)} (Ctrl-O)`;
      view.print([style.dim(truncateColumns(printer, view.getColumns()))]);
    }
    thought = { text: "", from: 0 };
  }
  /** Printed text cannot be removed, so a line below it marks it as discarded. */
  function discardMessage(): void {
    if (printer.hasOutput) view.print([style.dim("· Discarded the incomplete answer above.")]);
    printer.reset();
    thought = { text: "", from: 0 };
  }
  function say(text: string): void {
    printer.complete(text);
    lastText = text;
  }
  function handleMessage(entry: AssistantEntry, ms: number): void {
    const parts = (type: "text" | "reasoning") =>
      entry.parts.map((part) => (part.type === type ? part.text : "")).join("");
    if (thought.text === "" && parts("reasoning") !== lastThought)
      thought = { text: parts("reasoning"), from: getTime() - ms };
    endThought();
    lastThought = "";
    say(parts("text"));
    const media = getMedia(entry).map((part) => escapeTerminalLine(formatMedia(part)));
    if (media.length > 0) view.print(media.map(style.dim));
    lastText = getAnswerText(entry);
  }

  return {
    handleEvent(event) {
      if (restartsMessage(event)) discardMessage();
      if (event.type === "turn_start" || event.type === "recovered") sawStart = true;
      else if (event.type === "reasoning_delta") {
        if (thought.text === "") thought = { text: "", from: getTime() };
        thought.text += event.delta;
      } else if (event.type === "content_delta" && sawStart) {
        endThought();
        printer.push(event.delta);
      } else if (event.type === "message") handleMessage(event.entry, event.ms);
    },
    printText: say,
    finish() {
      endThought();
      printer.finish();
      sawStart = false;
    },
    renderLive(columns) {
      const line = `∴ ${getLastLine(thought.text, columns - 2)}`;
      return [...(thought.text.trim() === "" ? [] : ["", style.dim(line)]), ...printer.renderLive()];
    },
    get lastText() {
      return lastText;
    },
  };
}

type TextPrinter = {
  push(piece: string): void;
  /** Prints the part of the text that is missing, and finishes. */
  complete(text: string): void;
  finish(): void;
  reset(): void;
  renderLive(): string[];
  readonly hasOutput: boolean;
};

/** Prints texts, each after an empty line. */
function createTextPrinter(view: View): TextPrinter {
  const createMarkdown = () => createMarkdownStream({ style: view.style, columns: view.getColumns });
  let markdown: MarkdownStream = createMarkdown();
  let printed = "";
  let isBegun = false;
  const printLines = (lines: readonly string[]) => {
    if (lines.length === 0) return;
    const print = isBegun ? view.append : view.print;
    isBegun = true;
    print(lines);
  };
  const reset = () => {
    markdown = createMarkdown();
    printed = "";
    isBegun = false;
  };
  const finish = () => {
    printLines(markdown.end());
    reset();
  };
  const push = (piece: string) => {
    printed += piece;
    printLines(markdown.push(piece));
  };
  return {
    push,
    complete(text) {
      if (!text.startsWith(printed)) reset();
      push(text.slice(printed.length));
      finish();
    },
    finish,
    reset,
    renderLive() {
      const lines = markdown.renderPartial();
      return lines.length === 0 || isBegun ? lines : ["", ...lines];
    },
    get hasOutput() {
      return isBegun;
    },
  };
}

function getLastLine(text: string, columns: number): string {
  const line = escapeTerminalLine(text.trimEnd().split("\n").at(-1) ?? "");
  return truncateColumns(
    line.length > columns ? `…${line.slice(-(columns - 2)).toWellFormed()}` : line,
    columns,
  );
}
