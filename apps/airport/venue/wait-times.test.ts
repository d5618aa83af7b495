import { expect, it } from "vitest";
import { loadVenue } from "../load-venue.ts";
import { simulateWaitTimes } from "./wait-times.ts";

it("simulated waits depend on the time only, are whole minutes, and are sorted shortest first", async () => {
  const venue = await loadVenue();
  for (let hour = 0; hour < 24; hour++) {
    const now = Date.UTC(2026, 0, 15, hour, 3);
    const waits = simulateWaitTimes(venue, now);
    expect(waits).toHaveLength(3);
    expect(simulateWaitTimes(venue, now + 60_000)).toEqual(waits);
    const minutes = waits.map((wait) => wait.minutes);
    expect(minutes).toEqual([...minutes].sort((left, right) => left - right));
    for (const wait of minutes) expect(Number.isInteger(wait) && wait >= 1 && wait <= 40).toBe(true);
  }
});
