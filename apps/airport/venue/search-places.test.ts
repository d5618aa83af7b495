import { describe, expect, it } from "vitest";
import { loadVenue } from "../load-venue.ts";
import { searchPlaces } from "./search-places.ts";

const venue = await loadVenue();
const searchNames = (term: string, more: object = {}) =>
  searchPlaces(venue, { term, ...more }).places.map(({ name }) => name);
const searchCategories = (term: string) =>
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
    expect(searchNames(term)).toEqual(expected);
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
  ])("%s means the category %s", (term, kind) => {
    expect(searchCategories(term)).toEqual(new Set([kind]));
  });

  it.each([
    ["lounge in concourse B", []],
    ["lounge in concourse a", ["Skyline Lounge"]],
    ["a lounge in T3", ["Harbor Lounge"]],
    ["anything to eat before security in terminal 2", ["Captain's Table"]],
    ["Terminal 1 restrooms on level 1", ["Restroom Terminal 1 Arrivals", "Restroom Concourse A Ground"]],
  ])("%s is searched only in that location: %j", (term, expected) => {
    expect(searchNames(term)).toEqual(expected);
  });

  it("returns the query as understood, and an explicit filter wins", () => {
    expect(searchPlaces(venue, { term: "lounge in concourse B" }).query).toEqual({
      term: "lounge",
      buildingId: "Concourse B",
    });
    expect(searchNames("lounge in concourse B", { buildingId: "Concourse A" })).not.toContain(
      "Harbor Lounge",
    );
  });

  it("ranks exact words before similar ones", () => {
    expect(searchNames("pizza")[0]).toBe("La Scala Pizza");
    expect(searchPlaces(venue, { term: "italian" }).places.map(({ name }) => name)).toEqual([
      "La Scala Pizza",
      "Trattoria Molo",
    ]);
  });

  it("combines filters by building, concourse, level, side and category", () => {
    expect(searchNames("restaurant", { buildingId: "Terminal 3" })).toEqual(["Trattoria Molo", "Green Bowl"]);
    expect(searchNames("restaurant", { buildingId: "Concourse B" })).toEqual([
      "Sakura Sushi",
      "La Scala Pizza",
    ]);
    expect(
      searchNames("restroom", { buildingId: "Terminal 1", level: "Level 1", security: "before" }),
    ).toEqual(["Restroom Terminal 1 Arrivals"]);
    expect(searchPlaces(venue, { categoryId: "lounge" }).places).toHaveLength(2);
  });

  it("reports a partial match if no place has all words", () => {
    expect(searchPlaces(venue, { term: "purple sushi" })).toMatchObject({
      match: "partial",
      places: [{ name: "Sakura Sushi" }],
    });
  });
});
