import { stripVTControlCharacters } from "node:util";
import type { Json, ResultStatus, UiHint } from "capstan";
import { isRecord } from "capstan";
import { escapeTerminal, escapeTerminalLine } from "../terminal/escape-terminal.ts";
import type { Style } from "../terminal/style.ts";
import { measureWidth, truncateColumns, wrapPreservingSpaces } from "../terminal/wrap.ts";
import { formatDuration } from "./format-usage.ts";
import { formatArguments, formatDiff } from "./tool-arguments.ts";

/** A tool call as displayed, with the calls of its nested run. */
export type Card = {
  readonly id: string;
  readonly name: string;
  readonly input: Json;
  state: "said" | "asking" | "running" | ResultStatus;
  startedAt?: number;
  ms?: number;
  result?: string;
  ui?: UiHint;
  /** Progress of a running call. */
  progress?: string;
  readonly nestedCards: Card[];
};

export type RenderOptions = {
  readonly style: Style;
  readonly columns: number;
  readonly now: number;
};

const maxFoldedLines = 4;
const maxNestedCards = 8;
const frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";

/** Returns the spinner frame for a time. */
export function getSpinnerFrame(now: number): string {
  return frames[Math.floor(now / 100) % frames.length] ?? "";
}

/** Whether the call has a result. */
export function isSettled({ state }: Card): boolean {
  return state !== "said" && state !== "asking" && state !== "running";
}

/** Renders a card with its nested calls and its folded result. */
export function renderCard(card: Card, drawing: RenderOptions): string[] {
  const inner = { ...drawing, columns: drawing.columns - 2 };
  const inside = card.nestedCards.slice(-maxNestedCards);
  const hidden = card.nestedCards.length - inside.length;
  return [
    renderHeader(card, drawing),
    ...(hidden > 0 ? [drawing.style.dim(`  … ${hidden} earlier calls`)] : []),
    ...inside.flatMap((nested) => renderCard(nested, inner)).map((line) => `  ${line}`),
    ...renderFolded(card, inner).map((line) => (line === "" ? "" : `  ${line}`)),
  ];
}

function renderHeader(card: Card, { style, columns, now }: RenderOptions): string {
  const name = truncateColumns(escapeTerminalLine(card.name), Math.max(8, columns >> 1));
  const took = card.ms ?? (card.state === "running" && card.startedAt ? now - card.startedAt : undefined);
  // Very short durations are not shown.
  const ends = [
    ...(stateLabels[card.state] ? [stateLabels[card.state]] : []),
    ...(took === undefined || took < 100 ? [] : [formatDuration(took)]),
  ].join(" · ");
  const room = columns - measureWidth(name) - measureWidth(ends) - 6;
  const about = room > 4 ? formatArguments(card.input, room) : "";
  const look = marks[card.state] ?? ((style: Style) => style.dim("·"));
  return [look(style, now), style.bold(name), about, style.dim(ends)].filter((part) => part !== "").join(" ");
}

const stateLabels: Readonly<Record<string, string>> = {
  asking: "asks",
  error: "failed",
  denied: "denied",
  skipped: "skipped",
  interrupted: "interrupted",
};

const marks: Readonly<Record<string, (style: Style, now: number) => string>> = {
  running: (style, now) => style.cyan(getSpinnerFrame(now)),
  asking: (style) => style.yellow("?"),
  ok: (style) => style.green("✓"),
  error: (style) => style.red("✗"),
  denied: (style) => style.yellow("⊘"),
  interrupted: (style) => style.yellow("!"),
};

/** Renders the full result of a call; a diff is shown as a diff. */
export function renderResult(
  card: Card,
  { style, columns }: Pick<RenderOptions, "style" | "columns">,
): string[] {
  const diff = card.ui?.kind === "diff" && isRecord(card.ui.props) ? card.ui.props.diff : undefined;
  if (typeof diff === "string" && diff !== "")
    return formatDiff(diff, style).map((line) => truncateCardLine(line, columns));
  const text = escapeTerminal(card.result ?? "").replace(/^\n+|\s+$/g, "");
  return text === ""
    ? []
    : wrapPreservingSpaces(formatJsonResult(text), columns).map((line) => style.dim(line.trimEnd()));
}

/** Indents single-line JSON. */
function formatJsonResult(text: string): string {
  if (!/^[[{]/.test(text) || text.includes("\n") || text.length > 100_000) return text;
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

function truncateCardLine(line: string, columns: number): string {
  return measureWidth(line) > columns ? truncateColumns(stripVTControlCharacters(line), columns) : line;
}

function renderFolded(card: Card, drawing: RenderOptions): string[] {
  if (card.state === "running" && card.progress)
    return [drawing.style.dim(truncateColumns(escapeTerminalLine(card.progress), drawing.columns))];
  if (!isSettled(card)) return [];
  const lines = renderResult(card, drawing);
  const left = lines.length - maxFoldedLines;
  // A single hidden line would take as much space as the note about it.
  if (left <= 1) return lines;
  return [
    ...lines.slice(0, maxFoldedLines),
    drawing.style.dim(truncateColumns(`… ${left} more lines (Ctrl-O)`, drawing.columns)),
  ];
}
