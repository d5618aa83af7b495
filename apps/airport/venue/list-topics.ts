import type { Venue } from "./venue.ts";

const maxTopics = 500;

/** What questions about this venue name: kinds of places, what they offer, and the places. */
export function listTopics({ name, places }: Venue): readonly string[] {
  const kinds = places.flatMap(({ category, keywords }) => [category, ...keywords]);
  return [...new Set([name, ...kinds, ...places.map((place) => place.name)])].slice(0, maxTopics);
}
