import type { WalkingGraph } from "./walking-graph.ts";

/** Longitude and latitude. */
export type Position = readonly [number, number];
export type SecuritySide = "before" | "after";

/** A point of interest. */
export type Place = {
  /** For tools alone: a person is never shown it. */
  readonly poiId: number;
  /** The id of its feature in the IMDF files, which outlives a reload. */
  readonly featureId: string;
  readonly name: string;
  /** What else it is called: "D15" and "Gate 15" for "Gate D15". */
  readonly aliases: readonly string[];
  readonly category: string;
  readonly keywords: readonly string[];
  readonly description: string;
  readonly hours?: string;
  readonly building: string;
  /** The concourse or hall, where the venue names one. */
  readonly area: string;
  readonly level: string;
  /** Counts the levels from the ground up; buildings share it. */
  readonly ordinal: number;
  readonly security?: SecuritySide;
  readonly at: Position;
};

/** What is drawn of a level. */
export type Shape = {
  readonly ordinal: number;
  readonly look: "ground" | "open" | "room";
  readonly name: string;
  readonly rings: readonly (readonly Position[])[];
};

export type Venue = {
  readonly name: string;
  readonly places: readonly Place[];
  readonly buildings: readonly {
    readonly name: string;
    readonly levels: readonly string[];
    readonly areas: readonly string[];
  }[];
  readonly levels: readonly { readonly ordinal: number; readonly name: string }[];
  readonly shapes: readonly Shape[];
  /** Left out where nothing tells how people walk: distances are then straight lines. */
  readonly walking?: WalkingGraph;
};

export const placeOf = (venue: Venue, poiId: number): Place | undefined =>
  venue.places.find((place) => place.poiId === poiId);

/** "Concourse D, Level 2, after security". */
export function locationOf({ building, area, level, security }: Place): string {
  const parts = [area || building, level, security && `${security} security`];
  return parts.filter((part) => part).join(", ");
}

/** Metres between two positions that are not far from each other. */
export function metresBetween([x, y]: Position, [otherX, otherY]: Position): number {
  const degree = 111_195;
  const shrink = Math.cos(((y + otherY) / 2) * (Math.PI / 180));
  return Math.hypot((x - otherX) * degree * shrink, (y - otherY) * degree);
}
