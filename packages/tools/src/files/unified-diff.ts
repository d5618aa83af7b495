import { diffLines, type LineChange } from "capstan/sessions";

const contextLines = 3;
const maxDifferences = 400;
const maxCharacters = 40_000;

export type UnifiedDiff = {
  /** The diff in unified format: truncated when very long, empty when nothing changes. */
  readonly text: string;
  readonly added: number;
  readonly removed: number;
};

/** Compares two versions of a file. An undefined version means that there is no file. */
export function createUnifiedDiff(
  path: string,
  before: string | undefined,
  after: string | undefined,
): UnifiedDiff {
  const changes = diffLines(splitLines(before ?? ""), splitLines(after ?? ""), { maxDifferences });
  const header = [
    `--- ${before === undefined ? "/dev/null" : `a/${path}`}`,
    `+++ ${after === undefined ? "/dev/null" : `b/${path}`}`,
  ];
  const hunks = formatHunks(changes);
  return {
    text: hunks.length === 0 ? "" : truncateDiff([...header, ...hunks]),
    added: changes.filter(({ type }) => type === "right").length,
    removed: changes.filter(({ type }) => type === "left").length,
  };
}

/** Keeps the newline of each line, so that a missing one at the end is a difference. */
export function splitLines(text: string): string[] {
  const lines: string[] = [];
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline + 1;
    lines.push(text.slice(start, end));
    start = end;
  }
  return lines;
}

/** Formats the changed lines with `contextLines` lines around them. */
function formatHunks(changes: readonly LineChange[]): string[] {
  const spans: { from: number; to: number }[] = [];
  for (const [index, { type }] of changes.entries()) {
    if (type === "same") continue;
    const last = spans.at(-1);
    const to = Math.min(changes.length, index + contextLines + 1);
    if (last && index - contextLines <= last.to) last.to = to;
    else spans.push({ from: Math.max(0, index - contextLines), to });
  }
  let done = 0;
  const position = { old: 0, new: 0 };
  return spans.flatMap(({ from, to }) => {
    advance(position, changes.slice(done, from));
    const start = { ...position };
    advance(position, changes.slice(from, to));
    done = to;
    const old = formatRange(start.old, position.old);
    return [
      `@@ -${old} +${formatRange(start.new, position.new)} @@`,
      ...changes.slice(from, to).flatMap(formatChange),
    ];
  });
}

function advance(position: { old: number; new: number }, changes: readonly LineChange[]): void {
  for (const { type } of changes) {
    if (type !== "right") position.old++;
    if (type !== "left") position.new++;
  }
}

/** Lines count from 1; an empty range names the line before it. */
function formatRange(from: number, to: number): string {
  return to === from ? `${from},0` : `${from + 1},${to - from}`;
}

const signs = { same: " ", left: "-", right: "+" } as const;

function formatChange({ type, line }: LineChange): string[] {
  const sign = signs[type];
  if (line.endsWith("\n")) return [sign + line.slice(0, -1)];
  return [sign + line, "\\ No newline at end of file"];
}

function truncateDiff(lines: readonly string[]): string {
  let characters = 0;
  const end = lines.findIndex((line) => {
    characters += line.length + 1;
    return characters > maxCharacters;
  });
  if (end < 0) return `${lines.join("\n")}\n`;
  return `${lines.slice(0, end).join("\n")}\n… ${lines.length - end} more lines\n`;
}
