import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { generateVenue, harborFolder } from "./generate-venue.ts";

type Feature = {
  id: string;
  geometry: { coordinates: unknown } | null;
  properties: { [key: string]: unknown };
};

const files = generateVenue();
const getFeatures = (type: string): Feature[] => JSON.parse(files.get(`${type}.geojson`) ?? "{}").features;
const gates = getFeatures("amenity").filter(
  ({ properties }) => properties.category === "boardinggate.aircraft",
);
const getName = ({ properties }: Feature) => (properties.name as { en: string }).en;

describe("Harbor International", () => {
  it("regenerates the committed files byte for byte", () => {
    expect(readdirSync(harborFolder).sort()).toEqual([...files.keys()].sort());
    for (const [name, text] of files) expect(readFileSync(join(harborFolder, name), "utf8"), name).toBe(text);
  });

  it("is small, and is labeled as fictional", () => {
    const size = [...files.values()].reduce((sum, text) => sum + text.length, 0);
    expect(size).toBeLessThan(400_000);
    expect(getFeatures("venue").map(getName)).toEqual(["Harbor International (fictional)"]);
  });

  it("has 3 terminals, 92 gates on two levels, and exactly two gates with the number 15", () => {
    expect(getFeatures("building").map(getName)).toEqual(["Terminal 1", "Terminal 2", "Terminal 3"]);
    expect(gates).toHaveLength(92);
    expect(gates.map(getName).filter((name) => /\D15$/.test(name))).toEqual(["Gate A15", "Gate D15"]);
    const ordinals = new Map(getFeatures("level").map(({ id, properties }) => [id, properties.ordinal]));
    const units = new Map(
      getFeatures("unit").map(({ id, properties }) => [id, properties.level_id as string]),
    );
    const heights = gates.map(({ properties }) =>
      ordinals.get(units.get((properties.unit_ids as string[])[0] ?? "") ?? ""),
    );
    expect(new Set(heights)).toEqual(new Set([0, 1]));
  });

  it("has unique feature ids and no dangling references", () => {
    const all = [...files.keys()]
      .filter((name) => name.endsWith(".geojson"))
      .flatMap((name) => getFeatures(name.slice(0, -8)));
    const ids = new Set(all.map(({ id }) => id));
    expect(ids.size).toBe(all.length);
    for (const { id, properties } of all) {
      const { level_id, unit_id, anchor_id, unit_ids = [], level_ids = [], building_ids = [] } = properties;
      const lists = [unit_ids, level_ids, building_ids].flat();
      for (const other of [level_id, unit_id, anchor_id, ...lists].filter((one) => one))
        expect(ids, id).toContain(other);
    }
  });
});
