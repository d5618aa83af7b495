import { stripVTControlCharacters } from "node:util";
import type { Json, ResultStatus, UiHint } from "capstan";
import { isRecord } from "../is-record.ts";
import { harmless, harmlessLine } from "../terminal/escape-terminal.ts";
import type { Style } from "../terminal/style.ts";
import { shortened, widthOf, wrappedAsIs } from "../terminal/wrap.ts";
import { duration } from "./format-usage.ts";
import { argumentsLine, diffLines } from "./tool-arguments.ts";

/** A tool call as it is shown; those that a nested agent makes are inside it. */
export type Card = {
  readonly id: string;
  readonly name: string;
  readonly input: Json;
  state: "said" | "asking" | "running" | ResultStatus;
  startedAt?: number;
  ms?: number;
  result?: string;
  ui?: UiHint;
  /** How far it is, while it runs. */
  progress?: string;
  readonly inside: Card[];
};

/** What drawing needs to know. */
export type Drawing = {
  readonly style: Style;
  readonly columns: number;
  readonly now: number;
};

const firstLines = 4;
const mostInside = 8;
const frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";

/** The picture of a spinner at a moment. */
export function spinner(now: number): string {
  return frames[Math.floor(now / 100) % frames.length] ?? "";
}

/** Whether a call has come to its end. */
export function isSettled({ state }: Card): boolean {
  return state !== "said" && state !== "asking" && state !== "running";
}

/** The card with the calls inside it, and its result folded. */
export function cardLines(card: Card, drawing: Drawing): string[] {
  const inner = { ...drawing, columns: drawing.columns - 2 };
  const inside = card.inside.slice(-mostInside);
  const hidden = card.inside.length - inside.length;
  return [
    headLine(card, drawing),
    ...(hidden > 0 ? [drawing.style.dim(`  … ${hidden} calls before`)] : []),
    ...inside.flatMap((nested) => cardLines(nested, inner)).map((line) => `  ${line}`),
    ...folded(card, inner).map((line) => (line === "" ? "" : `  ${line}`)),
  ];
}

function headLine(card: Card, { style, columns, now }: Drawing): string {
  const name = shortened(harmlessLine(card.name), Math.max(8, columns >> 1));
  const took = card.ms ?? (card.state === "running" && card.startedAt ? now - card.startedAt : undefined);
  // What took no time needs not say so.
  const ends = [
    ...(words[card.state] ? [words[card.state]] : []),
    ...(took === undefined || took < 100 ? [] : [duration(took)]),
  ].join(" · ");
  const room = columns - widthOf(name) - widthOf(ends) - 6;
  const about = room > 4 ? argumentsLine(card.input, room) : "";
  const look = marks[card.state] ?? ((style: Style) => style.dim("·"));
  return [look(style, now), style.bold(name), about, style.dim(ends)].filter((part) => part !== "").join(" ");
}

const words: Readonly<Record<string, string>> = {
  asking: "asks",
  error: "failed",
  denied: "denied",
  skipped: "skipped",
  interrupted: "interrupted",
};

const marks: Readonly<Record<string, (style: Style, now: number) => string>> = {
  running: (style, now) => style.cyan(spinner(now)),
  asking: (style) => style.yellow("?"),
  ok: (style) => style.green("✓"),
  error: (style) => style.red("✗"),
  denied: (style) => style.yellow("⊘"),
  interrupted: (style) => style.yellow("!"),
};

/** All lines of what a call gave; a difference is shown as one. */
export function resultLines(card: Card, { style, columns }: Pick<Drawing, "style" | "columns">): string[] {
  const diff = card.ui?.kind === "diff" && isRecord(card.ui.props) ? card.ui.props.diff : undefined;
  if (typeof diff === "string" && diff !== "")
    return diffLines(diff, style).map((line) => cut(line, columns));
  const text = harmless(card.result ?? "").replace(/^\n+|\s+$/g, "");
  return text === "" ? [] : wrappedAsIs(pretty(text), columns).map((line) => style.dim(line.trimEnd()));
}

/** JSON that came in one line is easier to read in several. */
function pretty(text: string): string {
  if (!/^[[{]/.test(text) || text.includes("\n") || text.length > 100_000) return text;
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

function cut(line: string, columns: number): string {
  return widthOf(line) > columns ? shortened(stripVTControlCharacters(line), columns) : line;
}

function folded(card: Card, drawing: Drawing): string[] {
  if (card.state === "running" && card.progress)
    return [drawing.style.dim(shortened(harmlessLine(card.progress), drawing.columns))];
  if (!isSettled(card)) return [];
  const lines = resultLines(card, drawing);
  const left = lines.length - firstLines;
  // One line more takes as much room as to say that there is one.
  if (left <= 1) return lines;
  return [
    ...lines.slice(0, firstLines),
    drawing.style.dim(shortened(`… ${left} more lines (Ctrl-O)`, drawing.columns)),
  ];
}
