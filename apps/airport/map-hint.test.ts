import type { MapProps } from "@capstan/studio";
import { describe, expect, it } from "vitest";
import { loadVenue } from "./load-venue.ts";
import { createMapHint, createPin } from "./map-hint.ts";
import { showDirections } from "./tools/show-directions.ts";
import type { Place } from "./venue/venue.ts";

const venue = await loadVenue();
const getNamedPlace = (name: string): Place =>
  venue.places.find(({ aliases }) => aliases.includes(name)) as Place;
const getMapProps = ({ props }: { props: unknown }) => props as MapProps;

describe("a map (S0-50)", () => {
  it("has the name of the venue, the pin, and only its surroundings", () => {
    const { title, pins, levels } = getMapProps(
      createMapHint(venue, { pins: [createPin(getNamedPlace("D15"))] }),
    );
    expect(title).toBe("Harbor International (fictional)");
    expect(pins).toEqual([
      { label: "Gate D15", level: "1", at: [-29.992314, 45.002906], look: "place", note: "Concourse D" },
    ]);
    expect(levels.map(({ name }) => name)).toEqual(["Level 2"]);
    const drawn = levels.flatMap(({ features }) => features.map(({ properties }) => properties.name ?? ""));
    expect(drawn).toEqual(expect.arrayContaining(["Concourse D", "D13", "D15", "D17"]));
    expect(drawn.filter((name) => /^A\d|Terminal 1/.test(name))).toEqual([]);
  });

  it("gives rooms the category of their place, and places without a room an icon", () => {
    const { levels } = getMapProps(createMapHint(venue, { pins: [createPin(getNamedPlace("D15"))] }));
    const features = levels.flatMap((level) => level.features);
    expect(features.find(({ properties }) => properties.name === "D13")?.properties.category).toBe("gate");
    const categories = new Set(features.map(({ properties }) => properties.category));
    expect([...categories]).toEqual(expect.arrayContaining(["gate", "restroom", "water"]));
    for (const { geometry, properties } of features)
      expect(geometry.type === "Point" && properties.category === undefined).toBe(false);
  });

  it("labels each terminal once", () => {
    const { levels } = getMapProps(
      createMapHint(venue, { pins: [createPin(getNamedPlace("A15")), createPin(getNamedPlace("D15"))] }),
    );
    const grounds = levels.flatMap(({ features }) =>
      features.filter(({ properties }) => properties.look === "ground"),
    );
    expect(grounds.map(({ properties }) => properties.name).filter((name) => name !== undefined)).toEqual([
      "Terminal 1",
      "Terminal 2",
      "Terminal 3",
    ]);
  });

  it("shows every level the route touches", async () => {
    const waypoints = [getNamedPlace("C80"), getNamedPlace("D15")].map(({ poiId }) => poiId);
    const { ui } = (await showDirections({ venue, reads: "public" }).execute?.(
      { waypoints },
      {} as never,
    )) as {
      ui: { props: unknown };
    };
    expect(getMapProps(ui).levels.map(({ name }) => name)).toEqual(["Level 1", "Level 2"]);
  });

  it("stays under 40 KB, however long the route", async () => {
    const ends = "A18 D18 B46 A24 D24 B51 C77 A1 D1 C81 A17 D17"
      .split(" ")
      .map((name) => getNamedPlace(name).poiId);
    const { ui } = (await showDirections({ venue, reads: "public" }).execute?.(
      { waypoints: ends },
      {} as never,
    )) as {
      ui: object;
    };
    expect(JSON.stringify(ui).length).toBeLessThan(40_000);
  });
});
