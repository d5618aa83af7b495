import {
  addEdge,
  addFeature,
  addOpening,
  addRoom,
  addUnit,
  type Draft,
  featureId,
  type LevelRef,
  label,
  polygon,
  type Rect,
  ring,
} from "./draft.ts";
import { drawWall, type Spine, spine } from "./draw-hall.ts";
import type { Concourse, Pier, Terminal } from "./harbor-plan.ts";

// From south to north, in metres.
const [frontWall, landside, security, airside, northWall, pierStart] = [0, 12, 32, 48, 68, 80];
const slotLength = 18;
const roomDepth = 16;
const halfWalkway = 6;

/** The walkways that go from one terminal to the next. */
export type Spines = { readonly arrivals: Spine; readonly departures: Spine; readonly airside: Spine };
export type Drawn = { readonly spines: Spines; readonly levels: readonly [LevelRef, LevelRef] };

export function drawTerminal(draft: Draft, terminal: Terminal): Drawn {
  const building = featureId("building", terminal.name);
  const properties = { name: label(terminal.name), category: "unspecified" };
  addFeature(draft, "building", { id: building, geometry: null, properties });
  const outline: Rect = [terminal.west, frontWall, terminal.east, pierStart];
  const footprint = { category: "ground", building_ids: [building] };
  const id = featureId("footprint", terminal.name);
  addFeature(draft, "footprint", { id, geometry: polygon(outline), properties: footprint });
  const levels = [drawLevel(draft, terminal, 1), drawLevel(draft, terminal, 2)] as const;
  const spines = drawHalls(draft, terminal, levels);
  for (const concourse of terminal.concourses)
    drawConcourse(draft, concourse, { levels, airside: spines.airside });
  return { spines, levels };
}

function drawLevel(draft: Draft, { name, west, east, concourses }: Terminal, number: 1 | 2): LevelRef {
  const piers = concourses.flatMap(({ x, piers: all }) =>
    all.filter(({ level }) => level === number).map((pier) => outlineOf(x, pier)),
  );
  const rects: Rect[] = [[west, frontWall, east, pierStart], ...piers];
  const level = { id: featureId("level", name, number), ordinal: number - 1 };
  const properties = {
    category: "unspecified",
    outdoor: false,
    ordinal: level.ordinal,
    name: label(`Level ${number}`),
    short_name: label(String(number)),
    building_ids: [featureId("building", name)],
  };
  const geometry = { type: "MultiPolygon", coordinates: rects.map((rect) => [ring(rect)]) };
  addFeature(draft, "level", { id: level.id, geometry, properties });
  const after: Rect[] = number === 2 ? [[west, airside, east, pierStart], ...piers] : piers;
  fence(draft, { category: "presecurity", name: "Before security", level }, [
    [west, frontWall, east, number === 2 ? airside : pierStart],
  ]);
  fence(draft, { category: "postsecurity", name: "After security", level }, after);
  return level;
}

type Fence = { readonly category: string; readonly name: string; readonly level: LevelRef };

function fence(draft: Draft, { category, name, level }: Fence, rects: readonly Rect[]): void {
  const geometry = { type: "MultiPolygon", coordinates: rects.map((rect) => [ring(rect)]) };
  const properties = { category, name: label(name), level_ids: [level.id] };
  addFeature(draft, "geofence", { id: featureId("geofence", name, level.id), geometry, properties });
}

function drawHalls(draft: Draft, terminal: Terminal, [ground, upper]: Drawn["levels"]): Spines {
  const { name, west, east, concourses } = terminal;
  const hall = (area: string, level: LevelRef, [south, north]: readonly [number, number]) => {
    addUnit(draft, "walkway", { rect: [west, south, east, north], level, area });
    return {
      level,
      area,
      runs: "x",
      spine: spine(draft, { level, area, runs: "x", across: (south + north) / 2 }),
    } as const;
  };
  const arrivals = hall(`${name} Arrivals Hall`, ground, [landside, security]);
  const departures = hall(`${name} Departures Hall`, upper, [landside, security]);
  const gates = hall(`${name} Airside Hall`, upper, [airside, northWall]);
  const front = { start: west, length: 16, door: landside, back: frontWall };
  drawWall(draft, terminal.arrivals, { ...arrivals, ...front });
  drawWall(draft, terminal.landside, { ...departures, ...front });
  drawWall(draft, terminal.baggage, {
    ...arrivals,
    start: west + 40,
    length: 80,
    door: security,
    back: airside,
  });
  const besideFirst = (concourses[0]?.x ?? west) + roomDepth + halfWalkway;
  drawWall(draft, terminal.airside, {
    ...gates,
    start: besideFirst,
    length: 16,
    door: northWall,
    back: pierStart,
  });
  const spines = { arrivals: arrivals.spine, departures: departures.spine, airside: gates.spine };
  drawSecurity(draft, { name, middle: (west + east) / 2, level: upper }, spines);
  return spines;
}

type Security = { readonly name: string; readonly middle: number; readonly level: LevelRef };

/** In by the checkpoint, out by the exit beside it: each goes one way. */
function drawSecurity(draft: Draft, { name, middle, level }: Security, spines: Spines): void {
  const room = { kind: "checkpoint", name: `${name} Checkpoint` } as const;
  const rect: Rect = [middle - 12, security, middle + 12, airside];
  const checkpoint = addRoom(draft, room, { rect, level, area: room.name }) ?? 0;
  addEdge(draft, [spines.departures.nodeAt(middle), checkpoint]);
  addEdge(draft, [checkpoint, spines.airside.nodeAt(middle)], "checkpoint");
  const out = middle + 30;
  addUnit(draft, "walkway", { rect: [out - 4, security, out + 4, airside], level, area: `${name} Exit` });
  addEdge(draft, [spines.airside.nodeAt(out), spines.departures.nodeAt(out)], "exit");
  for (const x of [middle, out])
    for (const y of [security, airside]) addOpening(draft, [x, y], { level, runs: "x" });
}

const outlineOf = (x: number, { from, west, east }: Pier): Rect => {
  const start = pierStart + from * slotLength;
  const length = Math.max(west.length, east.length) * slotLength;
  return [x - halfWalkway - roomDepth, start, x + halfWalkway + roomDepth, start + length];
};

type Root = { readonly levels: Drawn["levels"]; readonly airside: Spine };

function drawConcourse(draft: Draft, { name, x, piers }: Concourse, { levels, airside: hall }: Root): void {
  for (const pier of piers) {
    const level = levels[pier.level - 1] ?? levels[0];
    const [, start, , end] = outlineOf(x, pier);
    const south = pier.level === 2 ? northWall : start;
    addUnit(draft, "walkway", { rect: [x - halfWalkway, south, x + halfWalkway, end], level, area: name });
    const middle = spine(draft, { level, area: name, runs: "y", across: x });
    const wall = { spine: middle, level, area: name, runs: "y", start, length: slotLength } as const;
    drawWall(draft, pier.west, { ...wall, door: x - halfWalkway, back: x - halfWalkway - roomDepth });
    drawWall(draft, pier.east, { ...wall, door: x + halfWalkway, back: x + halfWalkway + roomDepth });
    if (pier.level === 2) {
      addEdge(draft, [hall.nodeAt(x), middle.nodeAt(northWall)]);
      addOpening(draft, [x, northWall], { level, runs: "x" });
    }
    middle.close();
  }
  const [first] = piers;
  if (!first) return;
  const properties = { category: "concourse", name: label(name), level_ids: levels.map(({ id }) => id) };
  const geometry = polygon(outlineOf(x, first));
  addFeature(draft, "geofence", { id: featureId("geofence", name), geometry, properties });
}

type Passage = { readonly from: Drawn; readonly to: Drawn; readonly west: number; readonly east: number };

/** The walkways over the gap between two terminals. */
export function drawPassages(draft: Draft, { from, to, west, east }: Passage): void {
  const [ground, upper] = from.levels;
  const middle = (west + east) / 2;
  const passages = [
    ["arrivals", ground, landside, security, "Arrivals Walkway"],
    ["departures", upper, landside, security, "Departures Walkway"],
    ["airside", upper, airside, northWall, "Airside Walkway"],
  ] as const;
  for (const [key, level, south, north, area] of passages) {
    addUnit(draft, "walkway", { rect: [west, south, east, north], level, area });
    addOpening(draft, [west, (south + north) / 2], { level, runs: "y" });
    addOpening(draft, [east, (south + north) / 2], { level: to.levels[level.ordinal] ?? level, runs: "y" });
    const line = spine(draft, { level, area, runs: "x", across: (south + north) / 2 });
    addEdge(draft, [from.spines[key].nodeAt(west), line.nodeAt(middle)]);
    addEdge(draft, [line.nodeAt(middle), to.spines[key].nodeAt(east)]);
  }
}

/** Links what has joined the walkways: once, after everything has. */
export function closeSpines({ spines }: Drawn): void {
  spines.arrivals.close();
  spines.departures.close();
  spines.airside.close();
}
