import type { Event } from "capstan";
import { escapeTerminal, escapeTerminalLine } from "../terminal/escape-terminal.ts";
import type { Style } from "../terminal/style.ts";
import { breakLines, indentHanging, wrapText } from "../terminal/wrap.ts";
import { createAnswerStream } from "./answer-stream.ts";
import { createCardList, toDisplayText } from "./cards.ts";
import { formatDuration } from "./format-usage.ts";
import { type Notice, toNotice } from "./notices.ts";
import { type Card, isSettled, renderCard, renderResult } from "./tool-card.ts";
import type { View } from "./view.ts";

/** What was said and done, as the person reads it: each event is shown when it comes, and stays when it is whole. */
export interface Transcript {
  handleEvent(event: Event): void;
  /** What is not finished yet. */
  renderLive(columns: number): string[];
  /** Something the person said. */
  showUserMessage(text: string): void;
  /** Something people should know. */
  showNotice(text: string, look?: Notice["color"]): void;
  showAnswer(text: string): void;
  /** A call of earlier: one that is over is shown, another is followed. */
  showCard(showCard: Card): void;
  /** The run waits for somebody: what was said is whole. */
  finishMessage(): void;
  /** The run is over: nothing stays half-said or half-done. */
  finishRun(): void;
  /** Shows all of what was folded last. */
  showFolded(): void;
  /** Shows what the model thought last. */
  showReasoning(): void;
  /** What the model is at, in a word; empty when nothing is known. */
  readonly activity: string;
}

type FoldedBlock = { readonly title: string; render(columns: number): string[] };

/** A transcript on a view. */
export function createTranscript(view: View, getTime: () => number = Date.now): Transcript {
  const { style } = view;
  const calls = createCardList(getTime);
  let folded: FoldedBlock | undefined;
  let thought: FoldedBlock | undefined;
  let activity = "";
  let lastNotice = "";
  const answer = createAnswerStream({
    view,
    getTime,
    onThought(text) {
      thought = foldReasoning(text, style);
      folded = thought;
    },
  });

  function notice(words: string, look: Notice["color"] = "dim"): void {
    lastNotice = words;
    const lines = wrapParagraphs(words, view.getColumns() - 2);
    view.print(indentHanging(lines, look === "dim" ? "· " : "! ", "  ").map(style[look]));
  }
  function putCards(done: readonly Card[]): void {
    const last = done.at(-1);
    if (!last) return;
    folded = {
      title: escapeTerminalLine(last.name),
      render: (columns) => renderResult(last, { style, columns }),
    };
    view.print(
      done.flatMap((card) => renderCard(card, { style, columns: view.getColumns(), now: getTime() })),
    );
  }
  function person(words: string): void {
    lastNotice = "";
    const lines = breakLines(escapeTerminal(words).trim(), view.getColumns() - 2);
    view.print(indentHanging(lines, style.cyan("› "), "  "));
  }
  function rest(): void {
    answer.finish();
    putCards(calls.clear());
    activity = "";
  }
  function show({ title, render: lines }: FoldedBlock): void {
    view.print([style.bold(title), ...lines(view.getColumns() - 2).map((line) => `  ${line}`)]);
  }

  return {
    handleEvent(event) {
      calls.handleEvent(event);
      if (event.parentRunId === undefined) {
        answer.handleEvent(event);
        activity = getActivity(event) ?? activity;
        if (event.type === "steered") person(toDisplayText(event.entry.content));
        if (event.type === "done") {
          rest();
          const isAnswer = event.status === "done" || event.status === "limit";
          // One that is not the model's is said here for the first time.
          if (isAnswer && event.text.trim() !== answer.lastText.trim()) answer.printText(event.text);
        }
        const told = toNotice(event);
        // A model that failed and a run that failed for it is one thing to a person.
        if (told && !(event.type === "done" && lastNotice.endsWith(told.text))) notice(told.text, told.color);
      }
      putCards(calls.takeSettled());
      view.redraw();
    },
    renderLive(columns) {
      const open = calls.open.flatMap((card) => renderCard(card, { style, columns, now: getTime() }));
      return [...answer.renderLive(columns), ...(open.length > 0 ? ["", ...open] : [])];
    },
    showUserMessage: person,
    showNotice: notice,
    showAnswer: answer.printText,
    showCard: (card) => (isSettled(card) ? putCards([card]) : calls.add(card)),
    finishMessage: () => answer.finish(),
    finishRun: rest,
    showFolded: () => folded && show(folded),
    showReasoning: () => (thought ? show(thought) : notice("The model has shown no thoughts.")),
    get activity() {
      return activity;
    },
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

function getActivity(event: Event): string | undefined {
  if (event.type === "turn_start" || event.type === "message") return "";
  if (event.type === "reasoning_delta") return "thinking";
  if (event.type === "content_delta") return "writing";
  if (event.type === "compaction_start") return "summarising older messages";
  if (event.type === "tool_call_delta") return `preparing ${escapeTerminalLine(event.name)}`;
  if (event.type === "retry")
    return `trying again in ${formatDuration(event.waitMs)} (${escapeTerminalLine(event.code)})`;
  return undefined;
}
