import { expect, it } from "vitest";
import { formatListReport, measureLists } from "./lists.ts";

it("the benchmark of lists measures every work, and each finds what it should", async () => {
  const cells = await measureLists({ sizes: [100, 200], samples: 1, log: () => undefined });
  expect(cells).toHaveLength(58);
  const report = formatListReport(cells);
  expect(report).toContain("| SQLite | 100 sessions | 200 sessions | last to first |");
  expect(report).not.toContain("NaN");
});
