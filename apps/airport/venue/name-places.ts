import { describeCategory } from "./categories.ts";
import type { Spot } from "./find-spots.ts";
import { getLabel } from "./read-imdf.ts";
import { measureDistance } from "./venue.ts";

const maxLandmarkMetres = 200;

/**
 * Returns a name for each spot. Unnamed places, and restrooms and stairs that share their name with others on the level, are
 * named after the nearest place with a name of its own: "Restroom near Gate 7".
 */
export function namePlaces(
  spots: readonly Spot[],
  getLevelName: (spot: Spot) => string,
): readonly PlaceName[] {
  const ownNames = spots.map((spot) => findOwnName(spot));
  const counts = new Map<string, number>();
  const getKey = ({ level }: Spot, name: string) => `${level.id} ${name}`;
  for (const [index, spot] of spots.entries()) {
    const key = getKey(spot, ownNames[index] ?? "");
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const isGeneric = (spot: Spot, name: string): boolean =>
    name === "" || (isPassage(spot) && (counts.get(getKey(spot, name)) ?? 0) > 1);
  const landmarks = spots.flatMap((spot, index): Landmark[] => {
    const name = ownNames[index] ?? "";
    const isOwn = !isGeneric(spot, name) && !isPassage(spot);
    return isOwn ? [{ name, spot }] : [];
  });
  const taken = new Set<string>();
  return spots.map((spot, index) => {
    const own = ownNames[index] ?? "";
    if (!isGeneric(spot, own)) return { name: own, isGenerated: false };
    const label = own || describeCategory(String(spot.feature.properties.category));
    const landmark = findNearest(landmarks, spot);
    const where = landmark === undefined ? `on ${getLevelName(spot)}` : `near ${landmark}`;
    return { name: pickFreeName(`${label} ${where}`, taken, spot.level.id), isGenerated: true };
  });
}

export type PlaceName = { readonly name: string; readonly isGenerated: boolean };
type Landmark = { readonly name: string; readonly spot: Spot };

/** Venues often name a gate by its code only: "7" becomes "Gate 7". */
function findOwnName({ feature }: Spot): string {
  const { name, category } = feature.properties;
  const label = getLabel(name);
  const isCode = /^[A-Za-z]?\d+[A-Za-z]?$/.test(label);
  return isCode && /^(?:boardinggate|gatearea)/.test(String(category)) ? `Gate ${label}` : label;
}

/** "Restroom near Lift 4" helps nobody. */
const isPassage = ({ feature }: Spot): boolean =>
  /^(?:elevator|stairs|steps|escalator|restroom)/.test(String(feature.properties.category));

function findNearest(landmarks: readonly Landmark[], { at, level, feature }: Spot): string | undefined {
  let best: string | undefined;
  let leastMetres = maxLandmarkMetres;
  for (const { name, spot } of landmarks) {
    const metres = measureDistance(at, spot.at);
    if (spot.feature === feature || spot.level !== level || metres >= leastMetres) continue;
    best = name;
    leastMetres = metres;
  }
  return best;
}

/** Numbers the second place of a name on a level. */
function pickFreeName(name: string, taken: Set<string>, level: string): string {
  let candidate = name;
  for (let count = 2; taken.has(`${level} ${candidate}`); count++) candidate = `${name} (${count})`;
  taken.add(`${level} ${candidate}`);
  return candidate;
}
