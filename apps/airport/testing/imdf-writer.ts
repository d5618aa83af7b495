// Writes IMDF files as the specification describes them (register.apple.com/resources/imdf), with all properties of a
// feature, ids that are UUIDs, and buildings that do not face north.

type Point = readonly [x: number, y: number];
type Properties = { readonly [key: string]: unknown };

/** Features to add. Coordinates are in metres from the southwest corner of the building. */
export type ImdfWriter = {
  /** Adds a polygon with optional holes, and returns its id. */
  addArea(type: string, rings: readonly (readonly Point[])[], properties: Properties): string;
  addLine(type: string, ends: readonly [Point, Point], properties: Properties): string;
  addPoint(type: string, at: Point, properties: Properties): string;
  addPlain(type: string, properties: Properties): string;
  /** The files by name. */
  build(): ReadonlyMap<string, string>;
};

export type WriterOptions = {
  readonly origin: readonly [longitude: number, latitude: number];
  /** By how many degrees the building is turned counterclockwise. */
  readonly turnedBy: number;
  readonly language: string;
};

/** Two points: west, south, east, north for a rectangle; the ends of a line. */
export type Box = readonly [number, number, number, number];

export const line = ([x, y, endX, endY]: Box): readonly [Point, Point] => [
  [x, y],
  [endX, endY],
];

/** The corners of a rectangle, closed. */
export const box = ([west, south, east, north]: Box): readonly Point[] => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
];

export function createImdfWriter({ origin, turnedBy, language }: WriterOptions): ImdfWriter {
  const features = new Map<string, object[]>();
  let count = 0;
  const toPosition = ([x, y]: Point): [number, number] => {
    const angle = (turnedBy * Math.PI) / 180;
    const east = x * Math.cos(angle) - y * Math.sin(angle);
    const north = x * Math.sin(angle) + y * Math.cos(angle);
    const metresPerDegree = 111_195;
    return [
      origin[0] + east / (metresPerDegree * Math.cos((origin[1] * Math.PI) / 180)),
      origin[1] + north / metresPerDegree,
    ];
  };
  const add = (type: string, geometry: object | null, properties: Properties): string => {
    const id = `7f3c0000-5d1e-4c6b-9a42-${String(++count).padStart(12, "0")}`;
    const all = features.get(type) ?? [];
    features.set(type, [...all, { id, type: "Feature", feature_type: type, geometry, properties }]);
    return id;
  };
  return {
    addArea: (type, rings, properties) =>
      add(type, { type: "Polygon", coordinates: rings.map((ring) => ring.map(toPosition)) }, properties),
    addLine: (type, ends, properties) =>
      add(type, { type: "LineString", coordinates: ends.map(toPosition) }, properties),
    addPoint: (type, at, properties) => add(type, { type: "Point", coordinates: toPosition(at) }, properties),
    addPlain: (type, properties) => add(type, null, properties),
    build: () =>
      new Map([
        [
          "manifest.json",
          JSON.stringify({
            ...{ version: "1.0.0", created: "2025-03-04T09:30:00Z", generated_by: "test", language },
            extensions: null,
          }),
        ],
        ...[...features].map(([type, all]): [string, string] => [
          `${type}.geojson`,
          JSON.stringify({ type: "FeatureCollection", name: type, features: all }),
        ]),
      ]),
  };
}

const unset = { restriction: null, accessibility: null, name: null, alt_name: null, display_point: null };

/** The properties of a unit, an opening, and so on, with those that are not set. */
export const describeUnit = (level: string, category: string, more: Properties = {}): Properties => ({
  ...unset,
  category,
  level_id: level,
  ...more,
});

export const describeOpening = (level: string, more: Properties = {}): Properties => ({
  ...{ category: "pedestrian", accessibility: null, access_control: null, name: null, alt_name: null },
  door: { type: "open", automatic: false, material: null },
  ...{ display_point: null, level_id: level },
  ...more,
});

export const describeAmenity = (unit: string, category: string, more: Properties = {}): Properties => ({
  ...{ category, accessibility: null, name: null, alt_name: null, hours: null, phone: null, website: null },
  ...{ unit_ids: [unit], address_id: null, correlation_id: null },
  ...more,
});

/** Adds the address, the venue, its only building and the footprint. Returns the id of the building. */
export function addVenue(
  writer: ImdfWriter,
  outline: readonly Point[],
  { name, building }: { readonly name: Properties; readonly building: Properties | null },
): string {
  const address = writer.addPlain("address", {
    ...{ address: "1 Airport Road", unit: null, locality: "Testville", province: null, country: "NO" },
    ...{ postal_code: null, postal_code_ext: null, postal_code_vanity: null },
  });
  writer.addArea("venue", [outline], {
    ...{ category: "airport", restriction: null, name, alt_name: null, hours: null, phone: null },
    ...{ website: null, display_point: null, address_id: address },
  });
  const id = writer.addPlain("building", {
    ...{ category: "unspecified", restriction: null, name: building, alt_name: null, display_point: null },
    address_id: null,
  });
  writer.addArea("footprint", [outline], { category: "ground", name: null, building_ids: [id] });
  return id;
}

export const describeLevel = (
  building: string,
  ordinal: number,
  names: { readonly name: Properties; readonly short: Properties },
): Properties => ({
  ...{ category: "unspecified", restriction: null, outdoor: false, ordinal, name: names.name },
  ...{ short_name: names.short, display_point: null, address_id: null, building_ids: [building] },
});
