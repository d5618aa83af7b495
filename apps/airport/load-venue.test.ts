import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { harbor, loadVenue } from "./load-venue.ts";
import { mapHint, pinOf } from "./map-hint.ts";
import { distanceNote, distancesFrom } from "./venue/distances.ts";
import type { Venue } from "./venue/venue.ts";

const folders: string[] = [];
function copyOfHarbor(without: readonly string[] = []): string {
  const folder = mkdtempSync(join(tmpdir(), "capstan-venue-"));
  folders.push(folder);
  cpSync(harbor, folder, { recursive: true });
  for (const name of without) rmSync(join(folder, name));
  return folder;
}
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const placeIn = ({ places }: Venue, name: string) => {
  const place = places.find(({ aliases }) => aliases.includes(name));
  if (!place) throw new Error(`no ${name}`);
  return place;
};
const metres = (venue: Venue, from: string, to: string) =>
  distancesFrom(venue, placeIn(venue, from))(placeIn(venue, to));

describe("loading a venue", () => {
  it("knows of each place what it is, where it is and on which side of security", async () => {
    const venue = await loadVenue();
    expect(venue.name).toBe("Harbor International (fictional)");
    expect(placeIn(venue, "D15")).toMatchObject({
      name: "Gate D15",
      aliases: ["Gate D15", "D15", "Gate 15"],
      category: "gate",
      building: "Terminal 3",
      area: "Concourse D",
      level: "Level 2",
      ordinal: 1,
      security: "after",
    });
    expect(placeIn(venue, "Harbor Pharmacy")).toMatchObject({
      security: "before",
      hours: "Mo-Su 06:00-22:00",
    });
    expect(new Set(venue.places.map(({ poiId }) => poiId)).size).toBe(venue.places.length);
    expect(distanceNote(venue)).toBe("");
  });

  it("leads from every place to every other, by the measured ways", async () => {
    const venue = await loadVenue();
    const far = distancesFrom(venue, placeIn(venue, "A1"));
    expect(venue.places.filter((place) => far(place) === undefined)).toEqual([]);
  });

  it("without a walking graph, goes from door to door and says so", async () => {
    const venue = await loadVenue(copyOfHarbor(["walking-graph.jsonl"]));
    const measured = await loadVenue();
    expect(venue.walking?.source).toBe("openings");
    expect(distanceNote(venue)).toMatch(/only about right/);
    for (const [from, to] of [
      ["D15", "Restroom Concourse D North"],
      ["Terminal 2 Checkpoint", "D15"],
      ["C80", "A3"],
    ] as const) {
      const [about, exact] = [metres(venue, from, to) ?? 0, metres(measured, from, to) ?? 0];
      expect(Math.abs(about - exact) / exact, `${from} to ${to}: ${about} and ${exact}`).toBeLessThan(0.25);
    }
  });

  it("without openings either, measures straight lines and says so", async () => {
    const venue = await loadVenue(copyOfHarbor(["walking-graph.jsonl", "opening.geojson"]));
    expect(venue.walking).toBeUndefined();
    expect(distanceNote(venue)).toMatch(/straight lines/);
    expect(metres(venue, "D15", "Restroom Concourse D North")).toBe(54);
  });
});

describe("what is no venue", () => {
  it("is said for a folder that is not there", async () => {
    await expect(loadVenue("/nowhere/at/all")).rejects.toMatchObject({
      code: "not_found",
      message: 'There is no folder "/nowhere/at/all" with an IMDF venue.',
    });
  });

  it("is said with the files that are missing", async () => {
    const folder = copyOfHarbor(["unit.geojson", "level.geojson"]);
    await expect(loadVenue(folder)).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("there is nothing in level.geojson, unit.geojson"),
    });
  });

  it.each([
    ["unit.geojson", "<html>", /unit\.geojson .* is no GeoJSON/],
    ["walking-graph.jsonl", "{", /walking-graph\.jsonl cannot be read: line 1 is not JSON/],
    ["walking-graph.jsonl", '[0, 1, 5, "fly"]', /the edge .* is not \[from, to, metres, kind\]/],
    ["walking-graph.jsonl", '{"at":[0,0],"level":"roof","area":""}', /level "roof", which is not there/],
  ])("is said of a %s that is %s", async (name, text, message) => {
    const folder = copyOfHarbor();
    writeFileSync(join(folder, name), text);
    await expect(loadVenue(folder)).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(message),
    });
  });

  it("a file that is a folder is an error, not a crash", async () => {
    const folder = copyOfHarbor(["amenity.geojson"]);
    mkdirSync(join(folder, "amenity.geojson"));
    await expect(loadVenue(folder)).rejects.toMatchObject({ code: "invalid_input" });
  });
});

describe("a venue that somebody has made to do harm", () => {
  const hostile: unknown[] = [
    { type: "Polygon" },
    { type: "Polygon", coordinates: [7] },
    { type: "Polygon", coordinates: [[null, [1], ["a", "b"]]] },
    { type: "Polygon", coordinates: [Array.from({ length: 300_000 }, (_, at) => [at / 1e6, 0])] },
    { type: "MultiPolygon", coordinates: { length: 3 } },
    { type: "Point", coordinates: {} },
    { type: "LineString", coordinates: [[0, 0], null] },
    "Polygon",
    7,
  ];

  it.each([
    "unit",
    "level",
    "amenity",
    "opening",
    "geofence",
    "anchor",
  ])("is loaded without the shapes of a %s that are none", async (type) => {
    const folder = copyOfHarbor(["walking-graph.jsonl"]);
    const file = join(folder, `${type}.geojson`);
    const { features } = JSON.parse(readFileSync(file, "utf8"));
    for (const [at, geometry] of hostile.entries()) features[at] = { ...features[at], geometry };
    writeFileSync(file, JSON.stringify({ features: [null, 7, ...features] }));
    const venue = await loadVenue(folder);
    expect(venue.places.length).toBeGreaterThan(0);
    const pins = venue.places.slice(-3).map((place) => pinOf(place));
    expect(JSON.stringify(mapHint(venue, { pins })).length).toBeLessThan(100_000);
  });
});
