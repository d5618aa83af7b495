import { describe, expect, it } from "vitest";
import { loadVenue } from "../load-venue.ts";
import { searchPlaces } from "./search-places.ts";

const venue = await loadVenue();
const names = (term: string, more: object = {}) =>
  searchPlaces(venue, { term, ...more }).places.map(({ name }) => name);
const categories = (term: string) =>
  new Set(searchPlaces(venue, { term }).places.map(({ category }) => category));

describe("searching places (S0-33)", () => {
  it.each([
    ["D15", ["Gate D15"]],
    ["gate d15", ["Gate D15"]],
    ["the Terminal 2 checkpoint", ["Terminal 2 Checkpoint"]],
    ["T2 checkpoint", ["Terminal 2 Checkpoint"]],
    ["Gate 15", ["Gate A15", "Gate D15"]],
    ["gate number 15", ["Gate A15", "Gate D15"]],
    ["sushi", ["Sakura Sushi"]],
    ["japanese restaurant", ["Sakura Sushi"]],
    ["tide cafe", ["Tide Café"]],
    ["captains table", ["Captain's Table"]],
    ["pharmcy", ["Harbor Pharmacy"]],
    ["Z99", []],
    ["gate 99", []],
    ["dentist", []],
  ])("%s finds %j", (term, expected) => {
    expect(names(term)).toEqual(expected);
  });

  it.each([
    ["bathroom", "restroom"],
    ["toilets", "restroom"],
    ["WC", "restroom"],
    ["resturants", "restaurant"],
    ["somewhere to charge my phone", "charging"],
    ["elevators", "lift"],
    ["drinking water", "water"],
    ["luggage", "baggage"],
  ])("%s means the kind %s", (term, kind) => {
    expect(categories(term)).toEqual(new Set([kind]));
  });

  it.each([
    ["lounge in concourse B", []],
    ["lounge in concourse a", ["Skyline Lounge"]],
    ["a lounge in T3", ["Harbor Lounge"]],
    ["anything to eat before security in terminal 2", ["Captain's Table"]],
    ["Terminal 1 restrooms on level 1", ["Restroom Terminal 1 Arrivals", "Restroom Concourse A Ground"]],
  ])("%s is looked for only where that is: %j", (term, expected) => {
    expect(names(term)).toEqual(expected);
  });

  it("tells what it has understood, and lets a filter that is given win", () => {
    expect(searchPlaces(venue, { term: "lounge in concourse B" }).meant).toEqual({
      term: "lounge",
      buildingId: "Concourse B",
    });
    expect(names("lounge in concourse B", { buildingId: "Concourse A" })).not.toContain("Harbor Lounge");
  });

  it("puts what it is before what only sounds like it", () => {
    expect(names("pizza")[0]).toBe("La Scala Pizza");
    expect(searchPlaces(venue, { term: "italian" }).places.map(({ name }) => name)).toEqual([
      "La Scala Pizza",
      "Trattoria Molo",
    ]);
  });

  it("filters by building, concourse, level, side and kind, all at once", () => {
    expect(names("restaurant", { buildingId: "Terminal 3" })).toEqual(["Trattoria Molo", "Green Bowl"]);
    expect(names("restaurant", { buildingId: "Concourse B" })).toEqual(["Sakura Sushi", "La Scala Pizza"]);
    expect(names("restroom", { buildingId: "Terminal 1", level: "Level 1", security: "before" })).toEqual([
      "Restroom Terminal 1 Arrivals",
    ]);
    expect(searchPlaces(venue, { categoryId: "lounge" }).places).toHaveLength(2);
  });

  it("says when no place has all of the words", () => {
    expect(searchPlaces(venue, { term: "purple sushi" })).toMatchObject({
      how: "partly",
      places: [{ name: "Sakura Sushi" }],
    });
  });
});
