import { array, assert, constantFrom, integer, property, tuple } from "fast-check";
import { describe, expect, it } from "vitest";
import { findNextTime, parseCron } from "./cron.ts";
import { fromLocalTime, toLocalTime } from "./time-zone.ts";

const next = (expression: string, timeZone: string, after: string) => {
  const time = findNextTime(parseCron(expression), timeZone, Date.parse(after));
  return time === undefined ? undefined : new Date(time).toISOString();
};

/** The next times of an expression, one after the other. */
const list = (expression: string, timeZone: string, after: string, count: number) => {
  const times: string[] = [];
  for (let last = after; times.length < count; last = times.at(-1) ?? last)
    times.push(next(expression, timeZone, last) ?? "never");
  return times.map((time) => time.slice(5, 16));
};

describe("a cron expression", () => {
  it.each([
    ["* * * * *", "2026-01-01T00:00:30Z", "2026-01-01T00:01:00.000Z"],
    ["0 9 * * 1-5", "2026-01-02T09:00:00Z", "2026-01-05T09:00:00.000Z"],
    ["0 9 * * MON-FRI", "2026-01-02T09:00:00Z", "2026-01-05T09:00:00.000Z"],
    ["*/20 8-10 * * *", "2026-01-01T10:40:00Z", "2026-01-02T08:00:00.000Z"],
    ["5/20 * * * *", "2026-01-01T10:26:00Z", "2026-01-01T10:45:00.000Z"],
    ["0 0 29 2 *", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00.000Z"],
    ["0 0 1 jan,jul *", "2026-01-01T00:00:00Z", "2026-07-01T00:00:00.000Z"],
    ["0 12 13 * 5", "2026-01-10T00:00:00Z", "2026-01-13T12:00:00.000Z"],
    ["0 12 * * 7", "2026-01-01T00:00:00Z", "2026-01-04T12:00:00.000Z"],
    ["0 0 30 2 *", "2026-01-01T00:00:00Z", undefined],
    ["0 * 30 2 *", "2026-01-01T00:00:00Z", undefined],
  ])("%s after %s matches %s", (expression, after, expected) => {
    expect(next(expression, "UTC", after)).toBe(expected);
  });

  it.each([
    "",
    "* * * *",
    "60 * * * *",
    "* 24 * * *",
    "* * 0 * *",
    "* * * 13 *",
    "* * * * 8",
    "*/0 * * * *",
    "5-1 * * * *",
    "a * * * *",
    "* * * MON *",
    "1,, * * * *",
    "-1 * * * *",
    "@daily",
    "0 0 9 * * *",
  ])("is rejected with its field if it is %j", (expression) => {
    expect(() => parseCron(expression)).toThrow(expect.objectContaining({ code: "invalid_input" }));
  });

  it("for a time that clocks skip takes place as they are set forward, and once", () => {
    expect(list("30 2 * * *", "Europe/Oslo", "2026-03-27T12:00:00Z", 3)).toEqual([
      "03-28T01:30",
      "03-29T01:00",
      "03-30T00:30",
    ]);
    expect(list("*/20 2 * * *", "Europe/Oslo", "2026-03-28T02:00:00Z", 3)).toEqual([
      "03-29T01:00",
      "03-30T00:00",
      "03-30T00:20",
    ]);
  });

  it("for a time that comes twice takes place the first time only", () => {
    expect(list("30 2 * * *", "Europe/Oslo", "2026-10-24T12:00:00Z", 2)).toEqual([
      "10-25T00:30",
      "10-26T01:30",
    ]);
    expect(list("*/30 1-2 * * *", "America/New_York", "2026-11-01T04:30:00Z", 4)).toEqual([
      "11-01T05:00",
      "11-01T05:30",
      "11-01T07:00",
      "11-01T07:30",
    ]);
  });

  it("for every hour follows the passing of time when clocks are set", () => {
    expect(list("0 * * * *", "Europe/Oslo", "2026-10-24T23:30:00Z", 4)).toEqual([
      "10-25T00:00",
      "10-25T01:00",
      "10-25T02:00",
      "10-25T03:00",
    ]);
    expect(list("30 * * * *", "Europe/Oslo", "2026-03-29T00:00:00Z", 3)).toEqual([
      "03-29T00:30",
      "03-29T01:30",
      "03-29T02:30",
    ]);
  });

  it("matches what the clocks of its zone show, and nothing is left out between two times", () => {
    const zones = constantFrom(
      "UTC",
      "Asia/Kolkata",
      "America/New_York",
      "Australia/Lord_Howe",
      "Pacific/Apia",
    );
    const numbers = (max: number) => array(integer({ min: 0, max }), { minLength: 1, maxLength: 3 });
    // Around the days on which the clocks of these zones are set.
    const days = constantFrom("2026-03-08", "2026-11-01", "2026-04-05", "2026-10-04", "2026-06-15");
    assert(
      property(tuple(numbers(59), numbers(23), zones, days, integer({ min: 0, max: 2879 })), (drawn) => {
        const [minutes, hours, timeZone, day, minute] = drawn;
        const after = Date.parse(`${day}T00:00:00Z`) - 86_400_000 + minute * 60_000;
        const cron = parseCron(`${minutes.join(",")} ${hours.join(",")} * * *`);
        const found = findNextTime(cron, timeZone, after) ?? Number.NaN;
        const matches = (time: number) => {
          const local = new Date(toLocalTime(time, timeZone));
          return minutes.includes(local.getUTCMinutes()) && hours.includes(local.getUTCHours());
        };
        const isRepeated = (time: number) => fromLocalTime(toLocalTime(time, timeZone), timeZone)[0] !== time;
        const isSkip = toLocalTime(found, timeZone) - toLocalTime(found - 60_000, timeZone) > 60_000;
        expect(matches(found) || isSkip).toBe(true);
        for (let time = after + 60_000; time < found; time += 60_000)
          expect(matches(time) && !isRepeated(time)).toBe(false);
      }),
      { numRuns: 60 },
    );
  });
});
