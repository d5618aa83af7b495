import type { WalkingGraph } from "./walking-graph.ts";

/** Longitude and latitude. */
export type Position = readonly [number, number];
export type SecuritySide = "before" | "after";

/** A point of interest. */
export type Place = {
  /** For tools only; never shown to the user. */
  readonly poiId: number;
  /** The feature's id in the IMDF files, stable across reloads. */
  readonly featureId: string;
  readonly name: string;
  /** All names, including "D15" and "Gate 15" for "Gate D15". */
  readonly aliases: readonly string[];
  readonly category: string;
  readonly keywords: readonly string[];
  readonly description: string;
  readonly hours?: string;
  readonly building: string;
  /** The concourse or hall; empty if the venue names none. */
  readonly area: string;
  readonly level: string;
  /** Level number counted from the ground, shared by all buildings. */
  readonly ordinal: number;
  readonly security?: SecuritySide;
  readonly at: Position;
};

/** A polygon of the floor plan. */
export type Shape = {
  readonly ordinal: number;
  readonly look: "ground" | "open" | "room";
  readonly name: string;
  readonly rings: readonly (readonly Position[])[];
};

export type Venue = {
  readonly name: string;
  readonly kind: "airport" | "venue";
  readonly places: readonly Place[];
  readonly buildings: readonly {
    readonly name: string;
    readonly levels: readonly string[];
    readonly areas: readonly string[];
  }[];
  readonly levels: readonly { readonly ordinal: number; readonly name: string }[];
  readonly shapes: readonly Shape[];
  /** Undefined if the venue has no walking data; distances are then straight lines. */
  readonly walking?: WalkingGraph;
};

/** Names of the levels that have places, lowest first. */
export function listLevelNames({ places }: Venue): readonly string[] {
  const sorted = places.toSorted((left, right) => left.ordinal - right.ordinal);
  return [...new Set(sorted.map(({ level }) => level))];
}

export const findPlace = (venue: Venue, poiId: number): Place | undefined =>
  venue.places.find((place) => place.poiId === poiId);

/** "Concourse D, Level 2, after security". */
export function formatLocation({ building, area, level, security }: Place): string {
  const parts = [area || building, level, security && `${security} security`];
  return parts.filter((part) => part).join(", ");
}

/** Distance in metres, for positions that are close to each other. */
export function measureDistance([x, y]: Position, [otherX, otherY]: Position): number {
  const metresPerDegree = 111_195;
  const shrink = Math.cos(((y + otherY) / 2) * (Math.PI / 180));
  return Math.hypot((x - otherX) * metresPerDegree * shrink, (y - otherY) * metresPerDegree);
}
