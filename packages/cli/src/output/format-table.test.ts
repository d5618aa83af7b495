import fc from "fast-check";
import stringWidth from "fast-string-width";
import { describe, expect, it } from "vitest";
import { formatAge } from "./format-age.ts";
import { formatCost, formatTable } from "./format-table.ts";

const at = (columns: number) => ({ stdout: { isTTY: true, columns } }) as never;

describe("a table", () => {
  it("is never wider than the terminal, whatever it holds, and every item has one line", () => {
    const texts = fc.array(fc.string({ unit: "grapheme", maxLength: 60 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(texts, fc.integer({ min: 40, max: 120 }), (items, columns) => {
        const text = formatTable(
          items,
          [
            { name: "ID", value: () => "0123456789" },
            { name: "TITLE", value: (item) => item, shrinks: true },
            { name: "MORE", value: (item) => item, optional: true },
          ],
          at(columns),
        );
        const lines = text.split("\n");
        expect(lines).toHaveLength(items.length + 2);
        for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(columns);
      }),
      { numRuns: 200 },
    );
  });

  it("is as wide as it must be in a pipe", () => {
    const text = formatTable(["x".repeat(300)], [{ name: "A", value: (item) => item, shrinks: true }], {
      stdout: {} as never,
    });
    expect(text).toBe(`A\n${"x".repeat(300)}\n`);
  });

  it("has times and amounts that can be read", () => {
    const minute = 60_000;
    expect([0, 5, 90, 3000].map((minutes) => formatAge(0, minutes * minute))).toEqual([
      "just now",
      "5 min ago",
      "1 h ago",
      "2 days ago",
    ]);
    expect([0, 0.001, 1.5].map(formatCost)).toEqual(["", "<$0.01", "$1.50"]);
  });
});
