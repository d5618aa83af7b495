import type { MapProps } from "@capstan/studio";
import type { ToolContext, ToolReturn } from "capstan";
import { describe, expect, it } from "vitest";
import { loadVenue } from "../load-venue.ts";
import type { Place } from "../venue/venue.ts";
import { search } from "./search.ts";

const venue = await loadVenue();
const gate = venue.places.find(({ name }) => name === "Gate A15") as Place;
const gates = [..."ABCDEFGH"].map((letter, index) => ({
  ...gate,
  poiId: index + 1,
  name: `Gate ${letter}15`,
  aliases: [`Gate ${letter}15`, `${letter}15`, "Gate 15"],
}));

it("asks which of many gates is meant, with at most as many buttons as the studio shows", async () => {
  const tool = search({ venue: { ...venue, places: gates }, reads: "public" });
  const { message, ui } = (await tool.execute?.({ term: "gate 15" }, {} as ToolContext)) as ToolReturn;
  expect(message).toContain("Which one do you mean: A15 or B15 or C15 or D15 or E15 or F15 or G15 or H15?");
  const { pins, replies } = ui?.props as unknown as MapProps;
  expect(pins).toHaveLength(8);
  expect(replies).toEqual(["A15", "B15", "C15", "D15", "E15", "F15"]);
});

describe("a search without results", () => {
  it.each([
    ["gate B7", 'Nothing for "gate B7" is recorded. The gates of Concourse B are B30 to B51.'],
    ["Z99", 'Nothing for "Z99" is recorded. The gates are A1 to A24, B30 to B51, C60 to C81, D1 to D24.'],
    [
      "lounge in concourse B",
      'Nothing for "lounge" is recorded (Concourse B). Elsewhere: Skyline Lounge (Concourse A, Level 2, after security); Harbor Lounge (Concourse D, Level 2, after security).',
    ],
    ["dentist in terminal 1", 'Nothing for "dentist" is recorded (Terminal 1).'],
  ])("%s: suggests alternatives if there are any", async (term, expected) => {
    const { message, data } = (await search({ venue, reads: "public" }).execute?.(
      { term },
      {} as ToolContext,
    )) as ToolReturn;
    expect(message).toBe(expected);
    expect(data).toEqual({ places: [] });
  });
});
