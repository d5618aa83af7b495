import { describe, expect, it } from "vitest";
import { loadVenue } from "../load-venue.ts";
import { describeRoute } from "./describe-route.ts";
import { findRoute, orderStops } from "./find-route.ts";
import type { Place, Venue } from "./venue.ts";

const venue = await loadVenue();
const getPlaces = (...names: readonly string[]): Place[] =>
  names.map((name) => {
    const place = venue.places.find(({ aliases }) => aliases.includes(name));
    if (!place) throw new Error(`no ${name}`);
    return place;
  });
const measureRoute = (stops: readonly Place[]): number => {
  const route = findRoute(venue, stops, { accessible: false });
  return route.type === "found" ? route.legs.reduce((sum, { metres }) => sum + metres, 0) : Number.NaN;
};

describe("a route", () => {
  it("describes turns, levels, security and the side of arrival (S0-36)", () => {
    const route = findRoute(venue, getPlaces("A24", "Baggage Claim Terminal 3"), { accessible: false });
    expect(route.type === "found" && describeRoute(venue, route.legs).steps).toEqual([
      "Walk 88 metres through Concourse A (1 min).",
      "Take the lift to Level 2 (1 min).",
      "Walk 39 metres through Concourse A (under 1 min).",
      "Turn left into Terminal 1 Airside Hall and walk 120 metres (2 min).",
      "Walk 170 metres through Terminal 2 Airside Hall (2 min).",
      "Leave the security area through the exit (under 1 min).",
      "Turn left into Terminal 2 Departures Hall and walk 130 metres (2 min).",
      "Walk 19 metres through Terminal 3 Departures Hall (under 1 min).",
      "Take the lift to Level 1 (1 min).",
      "Walk 111 metres through Terminal 3 Arrivals Hall (1 min).",
      "Baggage Claim Terminal 3 is on your left.",
    ]);
  });

  it("is found step-free from every gate except the four that have only stairs", () => {
    const [desk] = getPlaces("Information Desk Terminal 2") as [Place];
    const gates = venue.places.filter(({ category }) => category === "gate");
    const unknown = gates.filter(
      (gate) => findRoute(venue, [gate, desk], { accessible: true }).type === "unknown",
    );
    expect(unknown.map(({ name }) => name)).toEqual(["Gate C78", "Gate C80", "Gate C79", "Gate C81"]);
    expect(
      gates.filter((gate) => findRoute(venue, [gate, desk], { accessible: false }).type === "unknown"),
    ).toEqual([]);
  });

  it("is a straight line if the venue has no walking graph, and then never step-free", () => {
    const { walking: _, ...plain }: Venue = venue;
    const route = findRoute(plain, getPlaces("A1", "A3"), { accessible: false });
    expect(route.type === "found" && describeRoute(plain, route.legs)).toEqual({
      steps: ["Go from Gate A1 to Gate A3: 18 metres in a straight line; the route itself is not recorded."],
      metres: 18,
      minutes: 1,
    });
    expect(findRoute(plain, getPlaces("A1", "A3"), { accessible: true }).type).toBe("unknown");
  });
});

describe("several stops", () => {
  it("are reordered to shorten the route; the first and the last stay in place (S0-51)", () => {
    const asked = getPlaces("A1", "D15", "A17", "B44", "D2");
    const ordered = orderStops(venue, asked, { accessible: false });
    expect(ordered.map(({ name }) => name)).toEqual([
      "Gate A1",
      "Gate A17",
      "Gate B44",
      "Gate D15",
      "Gate D2",
    ]);
    expect(measureRoute(ordered)).toBeLessThan(measureRoute(asked));
  });

  it("are ordered by nearest neighbor if there are many, which still shortens the route (S0-51)", () => {
    const asked = getPlaces("A1", "D1", "A2", "D3", "A4", "D5", "A6", "D7", "A8", "D9", "A10", "D18");
    expect(measureRoute(orderStops(venue, asked, { accessible: false }))).toBeLessThan(
      measureRoute(asked) / 3,
    );
  });

  it("stay unchanged if they need no reordering", () => {
    const asked = getPlaces("A1", "D15", "D2");
    expect(orderStops(venue, asked, { accessible: false })).toBe(asked);
  });
});
