import { expect, it } from "vitest";
import { formatSessionReport, measureSessions } from "./sessions.ts";

it("the benchmark of sessions measures every work on sessions of every size", async () => {
  const cells = await measureSessions({ sizes: [50, 100], samples: 1, log: () => undefined });
  expect(cells.map(({ facts, work }) => `${facts} ${work}`).slice(0, 8)).toEqual([
    "50 new run, no snapshot",
    "50 new run",
    "50 open the newest run",
    "50 follow the newest run",
    "50 follow the session",
    "50 export",
    "50 fork",
    "50 remove",
  ]);
  expect(cells).toHaveLength(16);
  const report = formatSessionReport(cells);
  expect(report).toContain("| SQLite | 50 facts | 100 facts | exponent | longest block |");
  expect(report).not.toContain("NaN");
});
