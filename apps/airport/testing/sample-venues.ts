// Two venues in the style of real ones, unlike Harbor International: Fjordvik has units only, Mesa has amenities without
// names and occupants. Neither has a walking graph.

import {
  addVenue,
  type Box,
  box,
  createImdfWriter,
  describeAmenity,
  describeLevel,
  describeOpening,
  describeUnit,
  type ImdfWriter,
  line,
} from "./imdf-writer.ts";

type Files = ReadonlyMap<string, string>;

/**
 * A small airport in Norwegian. A hall with a pillar meets a pier at a right angle; steps and, unless left out, a ramp
 * lead up the pier to Gate 7.
 */
export function buildFjordvik({ hasRamp = true }: { readonly hasRamp?: boolean } = {}): Files {
  const writer = createImdfWriter({ origin: [6.0742, 62.5603], turnedBy: 31, language: "nb-NO" });
  const building = addVenue(writer, box([-2, -14, 74, 44]), {
    name: { no: "Fjordvik lufthavn", en: "Fjordvik Airport" },
    building: null,
  });
  const names = { name: { no: "Plan 1" }, short: { no: "1" } };
  const level = writer.addArea("level", [box([-1, -13, 73, 42])], describeLevel(building, 0, names));
  const addUnit = (category: string, bounds: Box, more = {}) =>
    writer.addArea("unit", [box(bounds)], describeUnit(level, category, more));
  const hall = [
    ...box([0, 0, 60, 20]).slice(0, 3),
    ...box([0, 10, 50, 20]).slice(1, 3).toReversed(),
    [0, 10],
    [0, 0],
  ] as const;
  const pillar = box([28, 4, 30, 6]).toReversed();
  writer.addArea("unit", [hall, pillar], describeUnit(level, "walkway"));
  addUnit("column", [28, 4, 30, 6]);
  addUnit("steps", [53, 20, 60, 22]);
  if (hasRamp) addUnit("ramp", [50, 20, 53, 22]);
  addUnit("walkway", [50, 22, 60, 40]);
  addUnit("waitingroom", [0, -12, 12, 0], { name: { no: "Gate 5" } });
  addUnit("waitingroom", [15, -12, 27, 0], { name: { no: "Gate 6" } });
  addUnit("waitingroom", [60, 30, 72, 40], { name: { no: "Gate 7" } });
  addUnit("restroom.male", [36, 10, 41, 16]);
  addUnit("restroom.female", [41, 10, 46, 16]);
  addUnit("restroom.unisex.wheelchair", [44, 34, 50, 40]);
  addUnit("foodservice", [20, 10, 35, 20], { name: { no: "Kaffebaren" } });
  addUnit("room", [0, 10, 10, 16]);
  addUnit("office", [10, 10, 20, 16], { name: { no: "Kontor" }, restriction: "employeesonly" });
  addUnit("nonpublic", [60, 0, 72, 10]);
  const gateDoors: readonly Box[] = [
    [5, 0, 7, 0],
    [20, 0, 22, 0],
    [60, 34, 60, 36],
  ];
  const roomDoors: readonly Box[] = [
    [38, 10, 39, 10],
    [43, 10, 44, 10],
    [50, 36, 50, 37.5],
    [26, 10, 29, 10],
  ];
  const stepDoors: readonly Box[] = [
    [56, 20, 57, 20],
    [56, 22, 57, 22],
  ];
  const rampDoors: readonly Box[] = hasRamp
    ? [
        [51, 20, 52, 20],
        [51, 22, 52, 22],
      ]
    : [];
  for (const door of [...gateDoors, ...roomDoors, ...stepDoors, ...rampDoors])
    writer.addLine("opening", line(door), describeOpening(level));
  writer.addLine("opening", line([0, 4, 0, 6]), describeOpening(level, { category: "pedestrian.principal" }));
  const locked = { access_control: ["badgereader"] };
  writer.addLine("opening", line([14, 10, 15, 10]), describeOpening(level, locked));
  return writer.build();
}

/** An airport with two levels, joined by a lift, by stairs that are points only, and by an escalator that goes up. */
export function buildMesa(): Files {
  const writer = createImdfWriter({ origin: [-111.6551, 33.3078], turnedBy: -12, language: "en-US" });
  const building = addVenue(writer, box([-5, -15, 125, 25]), {
    name: { "en-US": "Mesa Regional Airport" },
    building: { "en-US": "Main Terminal" },
  });
  const addLevel = (ordinal: number, name: string) => {
    const names = { name: { "en-US": name }, short: { "en-US": String(ordinal) } };
    return writer.addArea("level", [box([-2, -12, 122, 22])], describeLevel(building, ordinal, names));
  };
  const [ground, upper] = [addLevel(0, "Ticketing"), addLevel(1, "Concourse")];
  // The halls are drawn right across the rooms in them, as some venues do.
  const [ticketing = "", concourse = ""] = [ground, upper].map((level, index) => {
    const name = { "en-US": index === 0 ? "Ticketing Hall" : "Concourse B" };
    return writer.addArea("unit", [box([0, 0, 120, 20])], describeUnit(level, "walkway", { name }));
  });
  for (const [index, name] of ["5", "6", "7", "8"].entries()) {
    const west = index * 30;
    const unit = addRoom(writer, describeUnit(upper, "waitingroom"), [west, -10, west + 20, 0]);
    const gate = describeAmenity(unit, "boardinggate.aircraft", { name: { "en-US": name } });
    writer.addPoint("amenity", [west + 10, -5], gate);
  }
  addRestrooms(writer, [ground, upper]);
  writer.addPoint("amenity", [66, 13], describeAmenity(concourse, "drinkingfountain"));
  writer.addPoint("amenity", [67, 13], describeAmenity(concourse, "drinkingfountain"));
  writer.addPoint("amenity", [100, 10], describeAmenity(ticketing, "security.checkpoint"));
  writer.addPoint("amenity", [5, 1], describeAmenity(ticketing, "atm"));
  addOccupants(writer, upper);
  addWaysUp(writer, [ground, upper], [ticketing, concourse]);
  writer.addArea("section", [box([28, 0, 54, 20])], {
    ...describeUnit(upper, "eatingdrinking", { name: { "en-US": "Food Court" } }),
    ...{ address_id: null, correlation_id: null, parents: null },
  });
  writer.addArea("geofence", [box([-2, -12, 122, 22])], {
    ...{ category: "postsecurity", restriction: null, name: null, alt_name: null, correlation_id: null },
    ...{ display_point: null, building_ids: null, level_ids: [upper], parents: null },
  });
  writer.addLine("detail", line([0, 10, 120, 10]), { level_id: upper });
  return writer.build();
}

/** Adds a room with a door in the middle of the side that faces the hall. */
function addRoom(writer: ImdfWriter, properties: ReturnType<typeof describeUnit>, bounds: Box): string {
  const [west, south, east, north] = bounds;
  const [middle, side] = [(west + east) / 2, south < 0 ? north : south];
  const door = line([middle - 0.5, side, middle + 0.5, side]);
  writer.addLine("opening", door, describeOpening(String(properties.level_id)));
  return writer.addArea("unit", [box(bounds)], properties);
}

function addRestrooms(writer: ImdfWriter, [ground, upper]: readonly [string, string]): void {
  const rooms = [
    [upper, "restroom.male", 70],
    [upper, "restroom.female", 76],
    [upper, "restroom.family", 7],
    [ground, "restroom", 17],
  ] as const;
  for (const [level, category, west] of rooms) {
    const unit = addRoom(writer, describeUnit(level, category), [west, 14, west + 6, 20]);
    writer.addPoint("amenity", [west + 3, 17], describeAmenity(unit, category));
  }
}

function addOccupants(writer: ImdfWriter, level: string): void {
  const shops = [
    ["Juniper Coffee", "coffee.tea", 30],
    ["Red Rock Tacos", "mexican", 40],
    ["Mesa News", "newsstand", 90],
  ] as const;
  for (const [name, category, west] of shops) {
    const unit = addRoom(writer, describeUnit(level, "room"), [west, 14, west + 8, 20]);
    const anchor = writer.addPoint("anchor", [west + 4, 17], { address_id: null, unit_id: unit });
    writer.addPlain("occupant", {
      ...{ name: { "en-US": name, es: `${name} (es)` }, category, anchor_id: anchor },
      ...{ hours: "Mo-Su 05:00-22:00", phone: null, website: null, validity: null, correlation_id: null },
    });
  }
}

type Floors = readonly [ground: string, upper: string];

function addWaysUp(writer: ImdfWriter, levels: Floors, [ticketing, concourse]: Floors): void {
  for (const level of levels) {
    const shaft = addRoom(writer, describeUnit(level, "elevator"), [58, 16, 62, 20]);
    writer.addPoint("amenity", [60, 18], describeAmenity(shaft, "elevator"));
  }
  const stairs = { correlation_id: "7f3c0000-0000-4c6b-9a42-5a1050000001" };
  writer.addPoint("amenity", [112, 4], describeAmenity(ticketing, "stairs", stairs));
  writer.addPoint("amenity", [100, 4], describeAmenity(concourse, "stairs", stairs));
  const [bottom, top] = levels.map((level) =>
    addRoom(writer, describeUnit(level, "escalator"), [48, 14, 52, 20]),
  );
  writer.addPlain("relationship", {
    ...{ category: "escalator", direction: "directed", hours: null, intermediary: null },
    origin: { id: bottom, feature_type: "unit" },
    destination: { id: top, feature_type: "unit" },
  });
}
