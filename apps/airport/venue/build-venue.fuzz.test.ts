import fc from "fast-check";
import { expect, it } from "vitest";
import { buildFjordvik, buildMesa } from "../testing/sample-venues.ts";
import { buildVenue } from "./build-venue.ts";

const venues = [[...buildFjordvik()], [...buildMesa()]];

/** Replaces one value somewhere in parsed JSON. */
function replaceValue(value: unknown, path: readonly number[], next: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined || typeof value !== "object" || value === null) return next;
  const entries = Object.entries(value);
  const [key] = entries[step % Math.max(entries.length, 1)] ?? [];
  if (key === undefined) return next;
  const changed = replaceValue((value as Record<string, unknown>)[key], rest, next);
  return Array.isArray(value)
    ? value.with(Number(key), changed)
    : Object.fromEntries([...entries, [key, changed]]);
}

const mutation = fc.record({
  file: fc.nat(),
  path: fc.array(fc.nat(60), { minLength: 1, maxLength: 9 }),
  value: fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom<unknown>([], {}, null, [[]], [[[]]], 1e308, -1e308, "__proto__", [1e308, -1e308]),
  ),
});

it("any change of a venue's files gives a venue or an error that says why", () => {
  let built = 0;
  fc.assert(
    fc.property(fc.nat(1), fc.array(mutation, { minLength: 1, maxLength: 6 }), (index, mutations) => {
      const files = new Map(venues[index]);
      for (const { file, path, value } of mutations) {
        const [name = "", text = ""] = [...files][file % files.size] ?? [];
        files.set(name, JSON.stringify(replaceValue(JSON.parse(text), path, value)) ?? "");
      }
      try {
        const { venue, skipped } = buildVenue(files);
        built += 1;
        for (const { name, at } of venue.places) {
          expect(name).not.toBe("");
          expect(at.every(Number.isFinite)).toBe(true);
        }
        for (const { reason } of skipped) expect(reason).toMatch(/\.$/);
      } catch (error) {
        // Not a TypeError or a RangeError, which would be a mistake of ours.
        if (Object.getPrototypeOf(error) !== Error.prototype) throw error;
      }
    }),
    { numRuns: 100 },
  );
  expect(built).toBeGreaterThan(0);
});

it("a file that is cut, empty or nested without end is named", () => {
  const files = new Map(buildMesa());
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const feature = `{"type":"FeatureCollection","features":[{"id":"a","type":"Feature","geometry":{"type":"Polygon","coordinates":${deep}},"properties":{}}]}`;
  for (const text of ["", "{", deep, feature, '{"features":1}', "null"]) {
    const { venue, skipped } = buildVenue(new Map([...files, ["kiosk.geojson", text]]));
    expect(venue.places.length).toBeGreaterThan(0);
    expect(JSON.stringify(skipped)).toContain("kiosk.geojson");
  }
});
