import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { harborFolder, loadVenue } from "./load-venue.ts";
import { createMapHint, createPin } from "./map-hint.ts";
import { createDistanceMeter, describeAccuracy } from "./venue/distances.ts";
import type { Venue } from "./venue/venue.ts";

const folders: string[] = [];
function copyHarbor(without: readonly string[] = []): string {
  const folder = mkdtempSync(join(tmpdir(), "capstan-venue-"));
  folders.push(folder);
  cpSync(harborFolder, folder, { recursive: true });
  for (const name of without) rmSync(join(folder, name));
  return folder;
}
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const getNamedPlace = ({ places }: Venue, name: string) => {
  const place = places.find(({ aliases }) => aliases.includes(name));
  if (!place) throw new Error(`no ${name}`);
  return place;
};
const measureMetres = (venue: Venue, from: string, to: string) =>
  createDistanceMeter(venue, getNamedPlace(venue, from))(getNamedPlace(venue, to));

describe("loading a venue", () => {
  it("loads category, location and security side of each place", async () => {
    const venue = await loadVenue();
    expect(venue.name).toBe("Harbor International (fictional)");
    expect(getNamedPlace(venue, "D15")).toMatchObject({
      name: "Gate D15",
      aliases: ["Gate D15", "D15", "Gate 15"],
      category: "gate",
      building: "Terminal 3",
      area: "Concourse D",
      level: "Level 2",
      ordinal: 1,
      security: "after",
    });
    expect(getNamedPlace(venue, "Harbor Pharmacy")).toMatchObject({
      security: "before",
      hours: "Mo-Su 06:00-22:00",
    });
    expect(new Set(venue.places.map(({ poiId }) => poiId)).size).toBe(venue.places.length);
    expect(describeAccuracy(venue)).toBe("");
  });

  it("connects every place to every other through the measured walking graph", async () => {
    const venue = await loadVenue();
    const far = createDistanceMeter(venue, getNamedPlace(venue, "A1"));
    expect(venue.places.filter((place) => far(place) === undefined)).toEqual([]);
  });

  it("without a walking graph, measures from door to door and reports it", async () => {
    const venue = await loadVenue(copyHarbor(["walking-graph.jsonl"]));
    const measured = await loadVenue();
    expect(venue.walking?.source).toBe("openings");
    expect(describeAccuracy(venue)).toMatch(/approximate/);
    for (const [from, to] of [
      ["D15", "Restroom Concourse D North"],
      ["Terminal 2 Checkpoint", "D15"],
      ["C80", "A3"],
    ] as const) {
      const [about, exact] = [measureMetres(venue, from, to) ?? 0, measureMetres(measured, from, to) ?? 0];
      expect(Math.abs(about - exact) / exact, `${from} to ${to}: ${about} and ${exact}`).toBeLessThan(0.25);
    }
  });

  it("without openings either, measures straight lines and reports it", async () => {
    const venue = await loadVenue(copyHarbor(["walking-graph.jsonl", "opening.geojson"]));
    expect(venue.walking).toBeUndefined();
    expect(describeAccuracy(venue)).toMatch(/straight lines/);
    expect(measureMetres(venue, "D15", "Restroom Concourse D North")).toBe(54);
  });
});

describe("an invalid venue", () => {
  it("is reported for a missing folder", async () => {
    await expect(loadVenue("/nowhere/at/all")).rejects.toMatchObject({
      code: "not_found",
      message: 'Venue not found: "/nowhere/at/all".',
    });
  });

  it("is reported with the missing files", async () => {
    const folder = copyHarbor(["unit.geojson", "level.geojson"]);
    await expect(loadVenue(folder)).rejects.toMatchObject({
      code: "file_invalid",
      message: expect.stringContaining("missing or empty level.geojson, unit.geojson"),
    });
  });

  it.each([
    ["unit.geojson", "<html>", /unit\.geojson: The file is not a GeoJSON/],
    ["walking-graph.jsonl", "{", /walking-graph\.jsonl cannot be read: line 1 is not JSON/],
    ["walking-graph.jsonl", '[0, 1, 5, "fly"]', /the edge .* is not \[from, to, metres, kind\]/],
    ["walking-graph.jsonl", '{"at":[0,0],"level":"roof","area":""}', /level "roof", which does not exist/],
  ])("is reported for a %s containing %s", async (name, text, message) => {
    const folder = copyHarbor();
    writeFileSync(join(folder, name), text);
    await expect(loadVenue(folder)).rejects.toMatchObject({
      code: "file_invalid",
      message: expect.stringMatching(message),
    });
  });

  it("with a folder in place of a file loads without that file", async () => {
    const folder = copyHarbor(["amenity.geojson"]);
    mkdirSync(join(folder, "amenity.geojson"));
    const { places } = await loadVenue(folder);
    expect(places.find(({ name }) => name === "Gate D15")).toMatchObject({ category: "gate" });
  });
});

describe("a malicious venue", () => {
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
  ])("loads without the invalid geometry of a %s", async (type) => {
    const folder = copyHarbor(["walking-graph.jsonl"]);
    const file = join(folder, `${type}.geojson`);
    const { features } = JSON.parse(readFileSync(file, "utf8"));
    for (const [at, geometry] of hostile.entries()) features[at] = { ...features[at], geometry };
    writeFileSync(file, JSON.stringify({ features: [null, 7, ...features] }));
    const venue = await loadVenue(folder);
    expect(venue.places.length).toBeGreaterThan(0);
    const pins = venue.places.slice(-3).map((place) => createPin(place));
    expect(JSON.stringify(createMapHint(venue, { pins })).length).toBeLessThan(100_000);
  });
});
