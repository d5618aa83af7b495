import type { Event } from "capstan";
import { harmless, harmlessLine } from "../terminal/escape-terminal.ts";
import { cutLines, hanging, wrapped } from "../terminal/wrap.ts";
import { answerStream } from "./answer-stream.ts";
import { cards, plain } from "./cards.ts";
import { duration } from "./format-usage.ts";
import { type Notice, noticeOf } from "./notices.ts";
import { type Card, cardLines, isSettled, resultLines } from "./tool-card.ts";
import type { View } from "./view.ts";

/** What was said and done, as the person reads it: each event is shown when it comes, and stays when it is whole. */
export interface Transcript {
  hear(event: Event): void;
  /** What is not finished yet. */
  live(columns: number): string[];
  /** Something the person said. */
  person(text: string): void;
  /** Something people should know. */
  notice(text: string, look?: Notice["look"]): void;
  answer(text: string): void;
  /** A call of earlier: one that is over is shown, another is followed. */
  card(card: Card): void;
  /** The run waits for somebody: what was said is whole. */
  pause(): void;
  /** The run is over: nothing stays half-said or half-done. */
  rest(): void;
  /** Shows all of what was folded last. */
  unfold(): void;
  /** Shows what the model thought last. */
  unfoldReasoning(): void;
  /** What the model is at, in a word; empty when nothing is known. */
  readonly activity: string;
}

type Folded = { readonly title: string; lines(columns: number): string[] };

/** A transcript on a view. */
export function transcript(view: View, now: () => number = Date.now): Transcript {
  const { style } = view;
  const calls = cards(now);
  let folded: Folded | undefined;
  let thought: Folded | undefined;
  let activity = "";
  let lastNotice = "";
  const answer = answerStream({
    view,
    now,
    onThought(text) {
      thought = { title: "What it thought", lines: (columns) => paragraphs(text, columns).map(style.dim) };
      folded = thought;
    },
  });

  function notice(words: string, look: Notice["look"] = "dim"): void {
    lastNotice = words;
    const lines = paragraphs(words, view.columns() - 2);
    view.print(hanging(lines, look === "dim" ? "· " : "! ", "  ").map(style[look]));
  }
  function putCards(done: readonly Card[]): void {
    const last = done.at(-1);
    if (!last) return;
    folded = { title: harmlessLine(last.name), lines: (columns) => resultLines(last, { style, columns }) };
    view.print(done.flatMap((card) => cardLines(card, { style, columns: view.columns(), now: now() })));
  }
  function person(words: string): void {
    lastNotice = "";
    const lines = cutLines(harmless(words).trim(), view.columns() - 2);
    view.print(hanging(lines, style.cyan("› "), "  "));
  }
  function rest(): void {
    answer.rest();
    putCards(calls.clear());
    activity = "";
  }
  function show({ title, lines }: Folded): void {
    view.print([style.bold(title), ...lines(view.columns() - 2).map((line) => `  ${line}`)]);
  }

  return {
    hear(event) {
      calls.hear(event);
      if (event.parentRunId === undefined) {
        answer.hear(event);
        activity = activityOf(event) ?? activity;
        if (event.type === "steered") person(plain(event.entry.content));
        if (event.type === "done") {
          rest();
          const isAnswer = event.status === "done" || event.status === "limit";
          // One that is not the model's is said here for the first time.
          if (isAnswer && event.text.trim() !== answer.lastText.trim()) answer.say(event.text);
        }
        const told = noticeOf(event);
        // A model that failed and a run that failed for it is one thing to a person.
        if (told && !(event.type === "done" && lastNotice.endsWith(told.text))) notice(told.text, told.look);
      }
      putCards(calls.settled());
      view.redraw();
    },
    live(columns) {
      const open = calls.open.flatMap((card) => cardLines(card, { style, columns, now: now() }));
      return [...answer.live(columns), ...(open.length > 0 ? ["", ...open] : [])];
    },
    person,
    notice,
    answer: answer.say,
    card: (card) => (isSettled(card) ? putCards([card]) : calls.add(card)),
    pause: () => answer.rest(),
    rest,
    unfold: () => folded && show(folded),
    unfoldReasoning: () => (thought ? show(thought) : notice("The model has shown no thoughts.")),
    get activity() {
      return activity;
    },
  };
}

function paragraphs(text: string, columns: number): string[] {
  return harmless(text.trim())
    .split("\n")
    .flatMap((line) => wrapped(line, columns));
}

function activityOf(event: Event): string | undefined {
  if (event.type === "turn_start" || event.type === "message") return "";
  if (event.type === "reasoning_delta") return "thinking";
  if (event.type === "content_delta") return "writing";
  if (event.type === "compaction_start") return "summarising older messages";
  if (event.type === "tool_call_delta") return `preparing ${harmlessLine(event.name)}`;
  if (event.type === "retry")
    return `trying again in ${duration(event.waitMs)} (${harmlessLine(event.code)})`;
  return undefined;
}
