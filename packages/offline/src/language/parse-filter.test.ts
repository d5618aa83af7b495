import { describe, expect, it } from "vitest";
import { parseFilter } from "./parse-filter.ts";

describe("parseFilter", () => {
  it.each([
    ["only the red ones", "the red ones"],
    ["just those from Genoa", "those from Genoa"],
    ["the red ones please", "red"],
    ["ok, red ones only", "red"],
  ])("reads the words of a filter: %s", (text, words) => {
    expect(parseFilter(text)).toEqual({ text: words });
  });

  it.each([
    ["only those older than 40", "age", 41, 40],
    ["just the ones cheaper than 5 euros", "price", 4, 5],
    ["the big ones only, at least 5 rooms", "room", 5, 4],
    ["those with no more than 3 berths", "berth", 3, 4],
  ])("reads the limit of a filter: %s", (text, stem, inside, outside) => {
    const limit = parseFilter(text)?.limit;
    expect(limit?.stem).toBe(stem);
    expect([inside, outside].map((value) => limit?.accepts(value))).toEqual([true, false]);
  });

  it.each([
    "who is older than 40?",
    "which boats have at least 5 berths",
    "find all boats",
  ])("does not take a new request for a filter: %s", (text) => {
    expect(parseFilter(text)).toBeUndefined();
  });
});
