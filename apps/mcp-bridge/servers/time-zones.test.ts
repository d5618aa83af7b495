import { describe, expect, it } from "vitest";
import { convertTime, getTimeIn } from "./time-zones.ts";

const winter = "2026-01-15";

describe("a time in another place", () => {
  it.each([
    ["15:00", winter, "Oslo", "Tokyo", "15:00 in Oslo is 2026-01-15 23:00 in Tokyo."],
    ["15:00", "2026-07-15", "Oslo", "Tokyo", "15:00 in Oslo is 2026-07-15 22:00 in Tokyo."],
    ["9 am", winter, "new york", "Europe/Berlin", "09:00 in New York is 2026-01-15 15:00 in Berlin."],
    ["12 pm", winter, "UTC", "London", "12:00 in UTC is 2026-01-15 12:00 in London."],
    ["23:30", winter, "London", "Kathmandu", "23:30 in London is 2026-01-16 05:15 in Kathmandu."],
    ["10:00", winter, "Kyiv", "utc", "10:00 in Kyiv is 2026-01-15 08:00 in UTC."],
    // The night when clocks in Oslo go forward.
    ["04:00", "2026-03-29", "Oslo", "UTC", "04:00 in Oslo is 2026-03-29 02:00 in UTC."],
  ])("is found for %s on %s from %s to %s", (time, day, from, to, expected) => {
    expect(convertTime({ time, day }, from, to).message).toBe(expected);
  });

  it("is returned for the current time", () => {
    expect(getTimeIn("Tokyo", Date.UTC(2026, 0, 15, 12)).message).toBe("In Tokyo it is 2026-01-15 21:00.");
  });

  it.each(["New York right now", "new york right", "New York now"])("is returned for %s", (place) => {
    expect(getTimeIn(place, Date.UTC(2026, 0, 15, 12)).message).toBe("In New York it is 2026-01-15 07:00.");
  });

  it("needs a valid time and a known place", () => {
    expect(() => getTimeIn("Gotham", 0)).toThrow(/No time zone is named after "Gotham"/);
    for (const time of ["25:00", "13 pm", "noon", "10:75"])
      expect(() => convertTime({ time, day: winter }, "Oslo", "Tokyo"), time).toThrow(/time|There is no/);
    for (const day of ["2026-02-31", "2026-13-01", "tomorrow"])
      expect(() => convertTime({ time: "10:00", day }, "Oslo", "Tokyo"), day).toThrow(day);
  });
});
