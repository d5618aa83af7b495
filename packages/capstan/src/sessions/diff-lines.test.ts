import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffLines } from "./diff-lines.ts";

describe("diffLines", () => {
  const lines = fc.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 12 });

  it("preserves both texts and lists common lines once", () => {
    const property = fc.property(lines, lines, (left, right) => {
      const changes = diffLines(left, right);
      const without = (side: string) => changes.filter(({ type }) => type !== side).map(({ line }) => line);
      expect(without("right")).toEqual(left);
      expect(without("left")).toEqual(right);
      if (JSON.stringify(left) === JSON.stringify(right))
        expect(changes.every(({ type }) => type === "same")).toBe(true);
    });
    fc.assert(property);
  });

  it("returns the shortest edit script", () => {
    const changes = diffLines([..."abcd"], [..."acxd"]).map(({ type, line }) => `${type} ${line}`);
    expect(changes).toEqual(["same a", "left b", "same c", "right x", "same d"]);
    const property = fc.property(lines, lines, (left, right) => {
      const common = diffLines(left, right).filter(({ type }) => type === "same").length;
      expect(common).toBe(countCommonLines(left, right));
    });
    fc.assert(property);
  });

  it("reports very different texts as replaced between their first and last difference", () => {
    const many = (word: string) => Array.from({ length: 5000 }, (_, index) => `${word} ${index}`);
    expect(diffLines(many("a"), many("b"))).toHaveLength(10_000);
    const changes = diffLines([..."abcdef"], [..."axcyef"], { maxDifferences: 3 });
    expect(changes.map(({ type, line }) => `${type} ${line}`)).toEqual([
      ...["same a", "left b", "left c", "left d", "right x", "right c", "right y", "same e", "same f"],
    ]);
  });
});

/** The length of the longest common subsequence, by the textbook recurrence. */
function countCommonLines(left: readonly string[], right: readonly string[]): number {
  let row = Array<number>(right.length + 1).fill(0);
  for (const line of left) {
    const next = [0];
    for (const [index, other] of right.entries())
      next.push(line === other ? (row[index] ?? 0) + 1 : Math.max(row[index + 1] ?? 0, next[index] ?? 0));
    row = next;
  }
  return row.at(-1) ?? 0;
}
