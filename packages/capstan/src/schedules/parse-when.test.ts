import { describe, expect, it } from "vitest";
import { parseWhen } from "./parse-when.ts";

/** A Wednesday, 10:30 in Oslo. */
const place = { timeZone: "Europe/Oslo", now: Date.parse("2026-03-25T09:30:00Z") };
const parse = (text: string) => {
  const when = parseWhen(text, place);
  return typeof when.at === "number" ? new Date(when.at).toISOString().slice(0, 16) : when;
};

describe("a time in words", () => {
  it.each([
    ["tomorrow at 9", "2026-03-26T08:00"],
    ["Tomorrow", "2026-03-26T08:00"],
    ["at 9", "2026-03-26T08:00"],
    ["at 11:15", "2026-03-25T10:15"],
    ["today at 6pm", "2026-03-25T17:00"],
    ["tonight", "2026-03-25T19:00"],
    ["in 20 minutes", "2026-03-25T09:50"],
    ["in an hour", "2026-03-25T10:30"],
    ["in half an hour", "2026-03-25T10:00"],
    ["in 2 days", "2026-03-27T09:30"],
    ["on Sunday at 2:30", "2026-03-29T01:00"], // clocks are set forward
    ["wednesday at 8", "2026-04-01T06:00"],
    ["monday at noon", "2026-03-30T10:00"],
    ["12 am", "2026-03-25T23:00"],
  ])("%j is %s", (text, expected) => {
    expect(parse(text)).toBe(expected);
  });

  it.each([
    ["every 15 minutes", { every: 900_000 }],
    ["every hour", { every: 3_600_000 }],
    ["every day at 7:45", { cron: "45 7 * * *" }],
    ["every weekday at 9", { cron: "0 9 * * 1-5" }],
    ["weekdays at 9", { cron: "0 9 * * 1-5" }],
    ["every Monday", { cron: "0 9 * * 1" }],
    ["0 9 * * 1-5", { cron: "0 9 * * 1-5" }],
    ["2026-04-01T09:00", { at: "2026-04-01T09:00" }],
  ])("%j repeats, or is exact: %j", (text, expected) => {
    expect(parse(text)).toEqual(expected);
  });

  it.each([
    "",
    "soon",
    "at 25",
    "at 9:75",
    "13 pm",
    "on someday",
    "every blue moon",
    "every day at dawn",
  ])("%j is not understood, and the error says what is", (text) => {
    expect(() => parse(text)).toThrow(/tomorrow at 9/);
  });
});
