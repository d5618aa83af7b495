import { findShortestPaths } from "./shortest-paths.ts";
import { measureDistance, type Place, type Venue } from "./venue.ts";

const metresPerMinute = 75;

/** Returns a function that measures the distance in metres from `from`; undefined where no route is known. */
export function createDistanceMeter(venue: Venue, from: Place): (to: Place) => number | undefined {
  const { walking } = venue;
  const start = walking?.nodesByFeature.get(from.featureId);
  if (!walking || start === undefined) return (to) => Math.round(measureDistance(from.at, to.at));
  const { metres } = findShortestPaths(walking, start);
  return (to) => {
    const node = walking.nodesByFeature.get(to.featureId);
    return node === undefined ? undefined : metres.get(node);
  };
}

const estimateMinutes = (metres: number): number => Math.max(1, Math.round(metres / metresPerMinute));

export const formatMinutes = (minutes: number): string =>
  `${minutes} ${minutes === 1 ? "minute" : "minutes"}`;

/** "120 metres, about 2 minutes". */
export function formatWalk(metres: number, minutes: number = estimateMinutes(metres)): string {
  return `${metres} metres, about ${formatMinutes(minutes)}`;
}

/** A caveat for venues without a measured walking graph; otherwise empty. */
export function describeAccuracy({ walking }: Venue): string {
  if (!walking) return "Distances are straight lines: this venue has neither walking routes nor doors.";
  return walking.source === "openings"
    ? "Distances are approximate: they are derived from the rooms and doors of the floor plan."
    : "";
}
