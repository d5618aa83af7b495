import { reachFrom } from "./shortest-way.ts";
import { metresBetween, type Place, type Venue } from "./venue.ts";

const metresPerMinute = 75;

/** How far it is from a place to another, in metres; nothing where no way is known. */
export function distancesFrom(venue: Venue, from: Place): (to: Place) => number | undefined {
  const { walking } = venue;
  const start = walking?.nodeOf.get(from.featureId);
  if (!walking || start === undefined) return (to) => Math.round(metresBetween(from.at, to.at));
  const { metres } = reachFrom(walking, start);
  return (to) => {
    const node = walking.nodeOf.get(to.featureId);
    return node === undefined ? undefined : metres.get(node);
  };
}

const minutesFor = (metres: number): number => Math.max(1, Math.round(metres / metresPerMinute));

export const inMinutes = (minutes: number): string => `${minutes} ${minutes === 1 ? "minute" : "minutes"}`;

/** "120 metres, about 2 minutes". */
export function inWords(metres: number, minutes: number = minutesFor(metres)): string {
  return `${metres} metres, about ${inMinutes(minutes)}`;
}

/** What to know about the distances of a venue that has no measured ways; empty where it has. */
export function distanceNote({ walking }: Venue): string {
  if (!walking) return "Distances are straight lines: this venue tells neither ways nor doors.";
  return walking.source === "openings"
    ? "Distances go from door to door and are only about right: this venue has no walking graph."
    : "";
}
