import { expect, it } from "vitest";
import { parseDay } from "./parse-day.ts";

it.each([
  ["2026-06-10", "2026-06-10"],
  ["10 June 2025", "2025-06-10"],
  ["June 10, 2026", "2026-06-10"],
  ["the 10th of June", "2026-06-10"],
  ["1st jun", "2026-06-01"],
  ["18 June", "2026-06-18"],
  ["19 June", "2025-06-19"],
])("%j is %s if the newest day is 2026-06-18", (text, day) => {
  expect(parseDay(text, "2026-06-18")).toBe(day);
});

it.each([
  "soon",
  "June",
  "31 June 2026",
  "2026-02-30",
  "10",
  "10 June or 11 June",
  "",
])("%j is no day", (text) => {
  expect(parseDay(text, "2026-06-18")).toBeUndefined();
});
