// Myers' algorithm, with a limit to the differences it looks for: beyond it, all that lies between the first and the
// last difference is given as taken out and put in. That is longer than need be, and still true.

const context = 3;
const mostDifferences = 400;
const mostCharacters = 40_000;

type Edit = { readonly type: " " | "-" | "+"; readonly line: string };

/** A difference, in words and in numbers. */
export type Diff = {
  /** In the unified format; cut when it is very long, empty when nothing changes. */
  readonly text: string;
  readonly added: number;
  readonly removed: number;
};

/** What changes from one text to another. Nothing before: a new file. */
export function unifiedDiff(path: string, before: string | undefined, after: string): Diff {
  const { edits, first } = editsBetween(linesOf(before ?? ""), linesOf(after));
  const heads = [`--- ${before === undefined ? "/dev/null" : `a/${path}`}`, `+++ b/${path}`];
  const hunks = hunksOf(edits, first);
  return {
    text: hunks.length === 0 ? "" : cut([...heads, ...hunks]),
    added: edits.filter(({ type }) => type === "+").length,
    removed: edits.filter(({ type }) => type === "-").length,
  };
}

/** Each with its line end, so that a missing one is a difference. */
export function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Without what is the same before and after them, but for the context. `first` counts the lines that were left out. */
function editsBetween(before: readonly string[], after: readonly string[]): { edits: Edit[]; first: number } {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const first = Math.max(0, head - context);
  const old = before.slice(head, before.length - tail);
  const young = after.slice(head, after.length - tail);
  const edits = [
    ...before.slice(first, head).map(kept),
    ...(shortestEdits(old, young) ?? [...old.map(taken), ...young.map(put)]),
    ...before.slice(before.length - tail, before.length - tail + context).map(kept),
  ];
  return { edits, first };
}

const kept = (line: string): Edit => ({ type: " ", line });
const taken = (line: string): Edit => ({ type: "-", line });
const put = (line: string): Edit => ({ type: "+", line });

/** `reached` tells for each diagonal k, that is lines taken minus lines put, how far a path has come in `before`. */
function shortestEdits(before: readonly string[], after: readonly string[]): Edit[] | undefined {
  const most = Math.min(before.length + after.length, mostDifferences);
  const origin = most + 1;
  const reached = new Int32Array(2 * most + 3);
  const rounds: Int32Array[] = [];
  for (let round = 0; round <= most; round++) {
    rounds.push(reached.slice());
    for (let k = -round; k <= round; k += 2) {
      let x = isPut(reached, origin + k, Math.abs(k) === round ? k : undefined)
        ? at(reached, origin + k + 1)
        : at(reached, origin + k - 1) + 1;
      while (x < before.length && x - k < after.length && before[x] === after[x - k]) x++;
      reached[origin + k] = x;
      if (x >= before.length && x - k >= after.length) return pathBack(before, after, { rounds, origin });
    }
  }
  return undefined;
}

/** Whether the best way to a diagonal puts a line rather than takes one. On the outermost ones there is no choice. */
function isPut(reached: Int32Array, place: number, outermost: number | undefined): boolean {
  if (outermost !== undefined) return outermost <= 0;
  return at(reached, place - 1) < at(reached, place + 1);
}

function at(numbers: Int32Array, place: number): number {
  return numbers[place] ?? 0;
}

/** Follows the path that came first to the end, from there to the beginning. */
function pathBack(
  before: readonly string[],
  after: readonly string[],
  { rounds, origin }: { readonly rounds: readonly Int32Array[]; readonly origin: number },
): Edit[] {
  const edits: Edit[] = [];
  let x = before.length;
  let y = after.length;
  for (let round = rounds.length - 1; round > 0; round--) {
    const reached = rounds[round] ?? new Int32Array();
    const k = x - y;
    const isPutHere = isPut(reached, origin + k, Math.abs(k) === round ? k : undefined);
    const previous = isPutHere ? k + 1 : k - 1;
    const fromX = at(reached, origin + previous);
    const fromY = fromX - previous;
    for (; x > fromX && y > fromY; y--) edits.push(kept(before[--x] ?? ""));
    edits.push(isPutHere ? put(after[--y] ?? "") : taken(before[--x] ?? ""));
  }
  while (x > 0) edits.push(kept(before[--x] ?? ""));
  return edits.reverse();
}

/** The changes with the lines around them, in lines of the unified format. */
function hunksOf(edits: readonly Edit[], first: number): string[] {
  const spans: { from: number; to: number }[] = [];
  for (const [index, { type }] of edits.entries()) {
    if (type === " ") continue;
    const last = spans.at(-1);
    const to = Math.min(edits.length, index + context + 1);
    if (last && index - context <= last.to) last.to = to;
    else spans.push({ from: Math.max(0, index - context), to });
  }
  let done = 0;
  const line = { old: first, new: first };
  return spans.flatMap(({ from, to }) => {
    advance(line, edits.slice(done, from));
    const start = { ...line };
    advance(line, edits.slice(from, to));
    done = to;
    const old = range(start.old, line.old);
    return [`@@ -${old} +${range(start.new, line.new)} @@`, ...edits.slice(from, to).flatMap(written)];
  });
}

function advance(line: { old: number; new: number }, edits: readonly Edit[]): void {
  for (const { type } of edits) {
    if (type !== "+") line.old++;
    if (type !== "-") line.new++;
  }
}

/** Lines are counted from 1; a range of none names the line before it. */
function range(from: number, to: number): string {
  return to === from ? `${from},0` : `${from + 1},${to - from}`;
}

function written({ type, line }: Edit): string[] {
  if (line.endsWith("\n")) return [type + line.slice(0, -1)];
  return [type + line, "\\ No newline at end of file"];
}

function cut(lines: readonly string[]): string {
  let characters = 0;
  const fits = lines.findIndex((line) => {
    characters += line.length + 1;
    return characters > mostCharacters;
  });
  if (fits < 0) return `${lines.join("\n")}\n`;
  return `${lines.slice(0, fits).join("\n")}\n… ${lines.length - fits} more lines\n`;
}
