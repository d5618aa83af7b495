import { isClosedOff, isFacility, isOpenSpace, toCategory } from "./categories.ts";
import { computeCenter, isGeometry, isInside } from "./geometry.ts";
import { type Feature, getIds, getLabel, type Imdf, type SkipList } from "./read-imdf.ts";
import type { Position } from "./venue.ts";

/** A feature that becomes a place, with its position, its level, and the unit it is in. */
export type Spot = {
  readonly feature: Feature;
  readonly at: Position;
  readonly level: Feature;
  readonly unit?: Feature;
};

/** Finds the features that people look for: amenities, occupants, then units, kiosks and fixtures that say more. */
export function findSpots(imdf: Imdf, skipped: SkipList): readonly Spot[] {
  const levels = new Map(imdf.level.map((level) => [level.id, level]));
  const units = new Map(imdf.unit.map((unit) => [unit.id, unit]));
  const anchors = new Map(imdf.anchor.map((anchor) => [anchor.id, anchor]));
  const createSpot = (feature: Feature, at: Position | undefined, unit: Feature | undefined): Spot[] => {
    const level = levels.get(String((unit ?? feature).properties.level_id));
    return at && level ? [{ feature, at, level, ...(unit && { unit }) }] : [];
  };
  const amenities = imdf.amenity.flatMap((feature) => {
    const at = computeCenter(feature.geometry);
    const named = getIds(feature.properties.unit_ids).flatMap((id) => units.get(id) ?? []);
    const unit = named[0] ?? findOnlyUnit(imdf, at);
    const found = unit && !isRestricted(unit) ? createSpot(feature, at, unit) : [];
    if (found.length === 0)
      skipped.add("amenity", feature.id, "It is in no unit that is open to the public.");
    return found;
  });
  const occupants = imdf.occupant.flatMap((feature) => {
    const anchor = anchors.get(String(feature.properties.anchor_id));
    const unit = units.get(String(anchor?.properties.unit_id));
    const found = unit ? createSpot(feature, computeCenter(anchor?.geometry ?? null), unit) : [];
    if (found.length === 0)
      skipped.add("occupant", feature.id, "Its anchor or the unit of its anchor does not exist.");
    return found;
  });
  const known = [...amenities, ...occupants];
  const standing = [...imdf.kiosk, ...imdf.fixture].flatMap((feature) => {
    const unit = units.get(String(anchors.get(String(feature.properties.anchor_id))?.properties.unit_id));
    const isKnown = known.some(
      (spot) => hasSameAnchor(spot.feature, feature) || hasSameName(spot.feature, feature),
    );
    const isNamed = getLabel(feature.properties.name) !== "";
    return isNamed && !isKnown ? createSpot(feature, getDisplayPoint(feature), unit) : [];
  });
  const rooms = imdf.unit.filter((unit) => isDestination(unit) && !isRepeated(unit, known));
  return [...known, ...rooms.flatMap((unit) => createSpot(unit, getDisplayPoint(unit), unit)), ...standing];
}

export const isRestricted = ({ properties }: Feature): boolean =>
  isClosedOff(String(properties.category)) || typeof properties.restriction === "string";

function isDestination(unit: Feature): boolean {
  const category = String(unit.properties.category);
  if (isRestricted(unit) || isOpenSpace(category)) return false;
  return isFacility(category) || getLabel(unit.properties.name) !== "";
}

/** Whether an occupant, or an amenity of the same name or kind, already stands for the unit. */
function isRepeated(unit: Feature, known: readonly Spot[]): boolean {
  return known.some(
    ({ feature, unit: own }) =>
      own === unit &&
      (feature.properties.anchor_id !== undefined ||
        hasSameName(feature, unit) ||
        toCategory(String(feature.properties.category)) === toCategory(String(unit.properties.category))),
  );
}

const hasSameAnchor = (left: Feature, right: Feature): boolean =>
  typeof left.properties.anchor_id === "string" && left.properties.anchor_id === right.properties.anchor_id;

const hasSameName = (left: Feature, right: Feature): boolean =>
  getLabel(left.properties.name) !== "" && getLabel(left.properties.name) === getLabel(right.properties.name);

/** The unit around a point, if the venue has one level only: an amenity has no level of its own. */
function findOnlyUnit({ level, unit }: Imdf, at: Position | undefined): Feature | undefined {
  const ordinals = new Set(level.map(({ properties }) => properties.ordinal));
  return at && ordinals.size === 1 ? unit.find(({ geometry }) => isInside(at, geometry)) : undefined;
}

function getDisplayPoint({ geometry, properties }: Feature): Position | undefined {
  const point = properties.display_point;
  const center = computeCenter(geometry);
  if (!isGeometry(point) || point.type !== "Point") return center;
  return isInside(point.coordinates, geometry) ? point.coordinates : center;
}
