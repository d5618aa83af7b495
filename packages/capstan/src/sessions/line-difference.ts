/** A line that both texts have, only the left one, or only the right one. */
export type LineChange = { readonly type: "same" | "left" | "right"; readonly line: string };

/** Above so many comparisons everything in the middle counts as changed. */
const mostComparisons = 4_000_000;

/** What must be taken from the left text and added to get the right one, line by line and as little as possible. */
export function lineDifference(left: string, right: string): LineChange[] {
  const [before, after] = [linesOf(left), linesOf(right)];
  let head = 0;
  while (head < Math.min(before.length, after.length) && before[head] === after[head]) head += 1;
  let tail = 0;
  const rest = Math.min(before.length, after.length) - head;
  while (tail < rest && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  return [
    ...before.slice(0, head).map((line): LineChange => ({ type: "same", line })),
    ...middle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...before.slice(before.length - tail).map((line): LineChange => ({ type: "same", line })),
  ];
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.split("\n");
}

function middle(left: readonly string[], right: readonly string[]): LineChange[] {
  const changes: LineChange[] = [];
  if (left.length * right.length > mostComparisons) {
    changes.push(...left.map((line): LineChange => ({ type: "left", line })));
    changes.push(...right.map((line): LineChange => ({ type: "right", line })));
    return changes;
  }
  const lengths = commonLengths(left, right);
  const common = (row: number, column: number) => lengths[row]?.[column] ?? 0;
  let [row, column] = [0, 0];
  while (row < left.length || column < right.length) {
    const [old = "", fresh = ""] = [left[row], right[column]];
    if (row < left.length && column < right.length && old === fresh) {
      changes.push({ type: "same", line: old });
      row += 1;
      column += 1;
    } else if (
      row < left.length &&
      (column === right.length || common(row + 1, column) >= common(row, column + 1))
    ) {
      changes.push({ type: "left", line: old });
      row += 1;
    } else {
      changes.push({ type: "right", line: fresh });
      column += 1;
    }
  }
  return changes;
}

/** By row and column: how many lines the rests from there have in common, in order. */
function commonLengths(left: readonly string[], right: readonly string[]): Uint32Array[] {
  const lengths = Array.from({ length: left.length + 1 }, () => new Uint32Array(right.length + 1));
  for (let row = left.length - 1; row >= 0; row--)
    for (let column = right.length - 1; column >= 0; column--) {
      const [here, below] = [lengths[row], lengths[row + 1]];
      if (!here || !below) continue;
      here[column] =
        left[row] === right[column]
          ? (below[column + 1] ?? 0) + 1
          : Math.max(below[column] ?? 0, here[column + 1] ?? 0);
    }
  return lengths;
}
