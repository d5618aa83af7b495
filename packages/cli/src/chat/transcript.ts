import type { Event } from "capstan";
import { createBackgroundWriter } from "../output/background-writer.ts";
import { escapeTerminal, escapeTerminalLine } from "../terminal/escape-terminal.ts";
import type { Style } from "../terminal/style.ts";
import { breakLines, indentHanging, wrapText } from "../terminal/wrap.ts";
import { createActivity } from "./activity.ts";
import { createAnswerStream } from "./answer-stream.ts";
import { createCardList, toDisplayText } from "./cards.ts";
import { type Notice, retryHint, toNotice } from "./notices.ts";
import { type Card, isSettled, renderCard, renderResult } from "./tool-card.ts";
import type { View } from "./view.ts";

/** The conversation as it is printed: open parts are redrawn live, finished parts stay in the scrollback. */
export interface Transcript {
  handleEvent(event: Event): void;
  /** Renders the parts that are not finished yet. */
  renderLive(columns: number): string[];
  showUserMessage(text: string): void;
  showNotice(text: string, color?: Notice["color"]): void;
  showAnswer(text: string): void;
  /** Prints a stored call that has settled; follows an open call. */
  showCard(card: Card): void;
  /** Prints the rest of the current message; called when the run starts to wait. */
  finishMessage(): void;
  /** Prints everything that is still open; called when the run is over. */
  finishRun(): void;
  /** Prints the full text of the block that was folded last. */
  showFolded(): void;
  /** Prints the model's latest reasoning. */
  showReasoning(): void;
  /** A short status such as "thinking"; empty when unknown. */
  readonly activity: string;
}

type FoldedBlock = { readonly title: string; render(columns: number): string[] };

export function createTranscript(view: View, getTime: () => number = () => performance.now()): Transcript {
  const { style } = view;
  const calls = createCardList(getTime);
  let [folded, reasoning]: (FoldedBlock | undefined)[] = [];
  const activity = createActivity(getTime);
  let lastNotice = "";
  const answer = createAnswerStream({
    view,
    getTime,
    onThought(text) {
      reasoning = foldReasoning(text, style);
      folded = reasoning;
    },
  });

  function showNotice(text: string, color: Notice["color"] = "dim"): void {
    lastNotice = text;
    const lines = wrapParagraphs(text, view.getColumns() - 2);
    view.print(indentHanging(lines, color === "dim" ? "· " : "! ", "  ").map(style[color]));
  }
  function printCards(cards: readonly Card[]): void {
    const last = cards.at(-1);
    if (!last) return;
    folded = foldResult(last, style);
    const options = { style, columns: view.getColumns(), now: getTime() };
    view.print(cards.flatMap((card) => renderCard(card, options)));
  }
  function showUserMessage(text: string): void {
    lastNotice = "";
    view.print(indentHanging(foldMessage(text, view), style.cyan("› "), "  "));
  }
  function finishRun(): void {
    answer.finish();
    printCards(calls.clear());
    activity.clear();
  }
  function showBlock({ title, render }: FoldedBlock): void {
    view.print([style.bold(title), ...render(view.getColumns() - 2).map((line) => `  ${line}`)]);
  }
  const showBackground = createBackgroundWriter(showNotice);
  function handleRootEvent(event: Event): void {
    answer.handleEvent(event);
    activity.handleEvent(event);
    if (event.type === "steered") showUserMessage(toDisplayText(event.entry.content));
    if (event.type === "done") {
      finishRun();
      const isAnswer = event.status === "done" || event.status === "limit";
      // An answer that the model did not write, such as a limit's, has not been printed yet.
      if (isAnswer && event.text.trim() !== answer.lastText.trim()) answer.printText(event.text);
    }
    const notice = toNotice(event);
    if (notice && !isRepeated(event, notice, lastNotice)) showNotice(notice.text, notice.color);
    if (event.type === "done" && event.canRetry) showNotice(retryHint);
  }

  return {
    handleEvent(event) {
      calls.handleEvent(event);
      showBackground(event);
      if (event.parentRunId === undefined) handleRootEvent(event);
      printCards(calls.takeSettled());
      view.redraw();
    },
    renderLive(columns) {
      const open = calls.open.flatMap((card) => renderCard(card, { style, columns, now: getTime() }));
      return [...answer.renderLive(columns), ...(open.length > 0 ? ["", ...open] : [])];
    },
    ...{ showUserMessage, showNotice, finishRun },
    showAnswer: answer.printText,
    showCard: (card) => (isSettled(card) ? printCards([card]) : calls.add(card)),
    finishMessage: () => answer.finish(),
    showFolded: () => folded && showBlock(folded),
    showReasoning: () => (reasoning ? showBlock(reasoning) : showNotice("The model has shown no reasoning.")),
    get activity() {
      return activity.text;
    },
  };
}

const maxMessageLines = 8;

/** Returns the lines of a message; of a long one, such as a pasted file, only the first. */
function foldMessage(text: string, { style, getColumns }: View): string[] {
  const lines = breakLines(escapeTerminal(text).trim(), getColumns() - 2);
  const rest = lines.length - maxMessageLines;
  return rest > 1 ? [...lines.slice(0, maxMessageLines), style.dim(`… ${rest} more lines`)] : lines;
}

/** A run that fails because its model failed is reported once, and so is an outage, however often it is retried. */
function isRepeated({ type }: Event, { text }: Notice, lastNotice: string): boolean {
  return (type === "done" || type === "model_failed") && lastNotice.endsWith(text);
}

function foldResult(card: Card, style: Style): FoldedBlock {
  return {
    title: escapeTerminalLine(card.name),
    render: (columns) => renderResult(card, { style, columns }),
  };
}

function foldReasoning(text: string, style: Style): FoldedBlock {
  return { title: "Reasoning", render: (columns) => wrapParagraphs(text, columns).map(style.dim) };
}

function wrapParagraphs(text: string, columns: number): string[] {
  return escapeTerminal(text.trim())
    .split("\n")
    .flatMap((line) => wrapText(line, columns));
}
