// Myers' algorithm ("An O(ND) Difference Algorithm", 1986) with a bound on the number of differences.

/** A line that both texts have, only the left one, or only the right one. */
export type LineChange = { readonly type: "same" | "left" | "right"; readonly line: string };

export type DiffLinesOptions = {
  /** Texts that differ in more lines than this are reported as replaced between their first and last difference. */
  readonly maxDifferences?: number;
};

const defaultMaxDifferences = 2_000;

/** Returns the shortest edit script that turns `left` into `right`. */
export function diffLines(
  left: readonly string[],
  right: readonly string[],
  { maxDifferences = defaultMaxDifferences }: DiffLinesOptions = {},
): LineChange[] {
  const shorter = Math.min(left.length, right.length);
  let head = 0;
  while (head < shorter && left[head] === right[head]) head++;
  let tail = 0;
  while (tail < shorter - head && left.at(-1 - tail) === right.at(-1 - tail)) tail++;
  const before = left.slice(head, left.length - tail);
  const after = right.slice(head, right.length - tail);
  return [
    ...left.slice(0, head).map(toSame),
    ...(findShortestEdits(before, after, maxDifferences) ?? [...before.map(toLeft), ...after.map(toRight)]),
    ...left.slice(left.length - tail).map(toSame),
  ];
}

const toSame = (line: string): LineChange => ({ type: "same", line });
const toLeft = (line: string): LineChange => ({ type: "left", line });
const toRight = (line: string): LineChange => ({ type: "right", line });

/** For each diagonal k (lines removed minus lines added), the furthest position in `left` that a path has reached. */
type Frontier = { readonly reached: Int32Array; readonly origin: number };

/** Returns undefined when more than `maxDifferences` edits are needed. */
function findShortestEdits(
  left: readonly string[],
  right: readonly string[],
  maxDifferences: number,
): LineChange[] | undefined {
  const limit = Math.min(left.length + right.length, maxDifferences);
  const origin = limit + 1;
  const reached = new Int32Array(2 * limit + 3);
  const frontier = { reached, origin };
  const frontiers: Frontier[] = [];
  for (let edits = 0; edits <= limit; edits++) {
    // Only the diagonals that `traceBack` reads for this number of edits.
    frontiers.push({ reached: reached.slice(origin - edits - 1, origin + edits + 2), origin: edits + 1 });
    for (let k = -edits; k <= edits; k += 2) {
      let x = isAddition(frontier, k, edits) ? getReached(frontier, k + 1) : getReached(frontier, k - 1) + 1;
      while (x < left.length && x - k < right.length && left[x] === right[x - k]) x++;
      reached[origin + k] = x;
      if (x >= left.length && x - k >= right.length) return traceBack(left, right, frontiers);
    }
  }
  return undefined;
}

/** True if the best path to diagonal k adds a line instead of removing one. The outermost diagonals leave no choice. */
function isAddition(frontier: Frontier, k: number, edits: number): boolean {
  if (Math.abs(k) === edits) return k <= 0;
  return getReached(frontier, k - 1) < getReached(frontier, k + 1);
}

function getReached({ reached, origin }: Frontier, k: number): number {
  return reached[origin + k] ?? 0;
}

/** Follows the first path that reached the end back to the beginning. */
function traceBack(
  left: readonly string[],
  right: readonly string[],
  frontiers: readonly Frontier[],
): LineChange[] {
  const changes: LineChange[] = [];
  let x = left.length;
  let y = right.length;
  for (let edits = frontiers.length - 1; edits > 0; edits--) {
    const frontier = frontiers[edits] as Frontier;
    const isAdded = isAddition(frontier, x - y, edits);
    const previous = isAdded ? x - y + 1 : x - y - 1;
    const fromX = getReached(frontier, previous);
    const fromY = fromX - previous;
    for (; x > fromX && y > fromY; y--) changes.push(toSame(left[--x] ?? ""));
    changes.push(isAdded ? toRight(right[--y] ?? "") : toLeft(left[--x] ?? ""));
  }
  while (x > 0) changes.push(toSame(left[--x] ?? ""));
  return changes.reverse();
}
