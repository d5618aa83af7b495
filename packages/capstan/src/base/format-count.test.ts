import { expect, it } from "vitest";
import { formatCount, formatCounts } from "./format-count.ts";

it("formats one thing in the singular, and others in the plural", () => {
  expect([0, 1, 2, 1234].map((count) => formatCount(count, "case"))).toEqual([
    ...["0 cases", "1 case", "2 cases", "1,234 cases"],
  ]);
  expect([1, 2].map((count) => formatCount(count, "more entry"))).toEqual(["1 more entry", "2 more entries"]);
  expect(formatCount(2, "day")).toBe("2 days");
});

it("formats counts by nouns in the plural", () => {
  expect(formatCounts({ levels: 1, places: 340, entries: 1, boxes: 1, data: 1, class: 1 })).toBe(
    "1 level, 340 places, 1 entry, 1 box, 1 data, 1 class",
  );
  expect(formatCounts({ levels: 2, places: 1 })).toBe("2 levels, 1 place");
  expect(formatCounts({})).toBe("");
});
