import {
  addEdge,
  addFeature,
  addOpening,
  addRoom,
  addUnit,
  createFeatureId,
  type Draft,
  type LevelRef,
  type Rect,
  toLabel,
  toPolygon,
  toRing,
} from "./draft.ts";
import { createSpine, drawWall, type Spine } from "./draw-hall.ts";
import type { Concourse, Pier, Terminal } from "./harbor-plan.ts";

// From south to north, in metres.
const [frontWall, landside, security, airside, northWall, pierStart] = [0, 12, 32, 48, 68, 80];
const slotLength = 18;
const roomDepth = 16;
const halfWalkway = 6;

/** The walkways that continue into the next terminal. */
export type Spines = { readonly arrivals: Spine; readonly departures: Spine; readonly airside: Spine };
export type TerminalDrawing = { readonly spines: Spines; readonly levels: readonly [LevelRef, LevelRef] };

export function drawTerminal(draft: Draft, terminal: Terminal): TerminalDrawing {
  const building = createFeatureId("building", terminal.name);
  const properties = { name: toLabel(terminal.name), category: "unspecified" };
  addFeature(draft, "building", { id: building, geometry: null, properties });
  const outline: Rect = [terminal.west, frontWall, terminal.east, pierStart];
  const footprint = { category: "ground", building_ids: [building] };
  const id = createFeatureId("footprint", terminal.name);
  addFeature(draft, "footprint", { id, geometry: toPolygon(outline), properties: footprint });
  const levels = [drawLevel(draft, terminal, 1), drawLevel(draft, terminal, 2)] as const;
  const spines = drawHalls(draft, terminal, levels);
  for (const concourse of terminal.concourses)
    drawConcourse(draft, concourse, { levels, airside: spines.airside });
  return { spines, levels };
}

function drawLevel(draft: Draft, { name, west, east, concourses }: Terminal, number: 1 | 2): LevelRef {
  const piers = concourses.flatMap(({ x, piers: all }) =>
    all.filter(({ level }) => level === number).map((pier) => computeOutline(x, pier)),
  );
  const rects: Rect[] = [[west, frontWall, east, pierStart], ...piers];
  const level = { id: createFeatureId("level", name, number), ordinal: number - 1 };
  const properties = {
    category: "unspecified",
    outdoor: false,
    ordinal: level.ordinal,
    name: toLabel(`Level ${number}`),
    short_name: toLabel(String(number)),
    building_ids: [createFeatureId("building", name)],
  };
  const geometry = { type: "MultiPolygon", coordinates: rects.map((rect) => [toRing(rect)]) };
  addFeature(draft, "level", { id: level.id, geometry, properties });
  const after: Rect[] = number === 2 ? [[west, airside, east, pierStart], ...piers] : piers;
  drawFence(draft, { category: "presecurity", name: "Before security", level }, [
    [west, frontWall, east, number === 2 ? airside : pierStart],
  ]);
  drawFence(draft, { category: "postsecurity", name: "After security", level }, after);
  return level;
}

type Fence = { readonly category: string; readonly name: string; readonly level: LevelRef };

function drawFence(draft: Draft, { category, name, level }: Fence, rects: readonly Rect[]): void {
  const geometry = { type: "MultiPolygon", coordinates: rects.map((rect) => [toRing(rect)]) };
  const properties = { category, name: toLabel(name), level_ids: [level.id] };
  addFeature(draft, "geofence", { id: createFeatureId("geofence", name, level.id), geometry, properties });
}

function drawHalls(draft: Draft, terminal: Terminal, [ground, upper]: TerminalDrawing["levels"]): Spines {
  const { name, west, east, concourses } = terminal;
  const drawHall = (area: string, level: LevelRef, [south, north]: readonly [number, number]) => {
    addUnit(draft, "walkway", { rect: [west, south, east, north], level, area });
    return {
      level,
      area,
      runs: "x",
      spine: createSpine(draft, { level, area, runs: "x", across: (south + north) / 2 }),
    } as const;
  };
  const arrivals = drawHall(`${name} Arrivals Hall`, ground, [landside, security]);
  const departures = drawHall(`${name} Departures Hall`, upper, [landside, security]);
  const gates = drawHall(`${name} Airside Hall`, upper, [airside, northWall]);
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
  const shopsStart = (concourses[0]?.x ?? west) + roomDepth + halfWalkway;
  drawWall(draft, terminal.airside, {
    ...gates,
    start: shopsStart,
    length: 16,
    door: northWall,
    back: pierStart,
  });
  const spines = { arrivals: arrivals.spine, departures: departures.spine, airside: gates.spine };
  drawSecurity(draft, { name, middle: (west + east) / 2, level: upper }, spines);
  return spines;
}

type Security = { readonly name: string; readonly middle: number; readonly level: LevelRef };

/** Draws the checkpoint and the exit next to it, both one-way. */
function drawSecurity(draft: Draft, { name, middle, level }: Security, spines: Spines): void {
  const room = { kind: "checkpoint", name: `${name} Checkpoint` } as const;
  const rect: Rect = [middle - 12, security, middle + 12, airside];
  const checkpoint = addRoom(draft, room, { rect, level, area: room.name }) ?? 0;
  addEdge(draft, [spines.departures.ensureNode(middle), checkpoint]);
  addEdge(draft, [checkpoint, spines.airside.ensureNode(middle)], "checkpoint");
  const out = middle + 30;
  addUnit(draft, "walkway", { rect: [out - 4, security, out + 4, airside], level, area: `${name} Exit` });
  addEdge(draft, [spines.airside.ensureNode(out), spines.departures.ensureNode(out)], "exit");
  for (const x of [middle, out])
    for (const y of [security, airside]) addOpening(draft, [x, y], { level, runs: "x" });
}

const computeOutline = (x: number, { from, west, east }: Pier): Rect => {
  const start = pierStart + from * slotLength;
  const length = Math.max(west.length, east.length) * slotLength;
  return [x - halfWalkway - roomDepth, start, x + halfWalkway + roomDepth, start + length];
};

type ConcourseContext = { readonly levels: TerminalDrawing["levels"]; readonly airside: Spine };

function drawConcourse(
  draft: Draft,
  { name, x, piers }: Concourse,
  { levels, airside: drawHall }: ConcourseContext,
): void {
  for (const pier of piers) {
    const level = levels[pier.level - 1] ?? levels[0];
    const [, start, , end] = computeOutline(x, pier);
    const south = pier.level === 2 ? northWall : start;
    addUnit(draft, "walkway", { rect: [x - halfWalkway, south, x + halfWalkway, end], level, area: name });
    const middle = createSpine(draft, { level, area: name, runs: "y", across: x });
    const wall = { spine: middle, level, area: name, runs: "y", start, length: slotLength } as const;
    drawWall(draft, pier.west, { ...wall, door: x - halfWalkway, back: x - halfWalkway - roomDepth });
    drawWall(draft, pier.east, { ...wall, door: x + halfWalkway, back: x + halfWalkway + roomDepth });
    if (pier.level === 2) {
      addEdge(draft, [drawHall.ensureNode(x), middle.ensureNode(northWall)]);
      addOpening(draft, [x, northWall], { level, runs: "x" });
    }
    middle.close();
  }
  const [first] = piers;
  if (!first) return;
  const properties = { category: "concourse", name: toLabel(name), level_ids: levels.map(({ id }) => id) };
  const geometry = toPolygon(computeOutline(x, first));
  addFeature(draft, "geofence", { id: createFeatureId("geofence", name), geometry, properties });
}

type Passage = {
  readonly from: TerminalDrawing;
  readonly to: TerminalDrawing;
  readonly west: number;
  readonly east: number;
};

/** Draws the walkways across the gap between two terminals. */
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
    const line = createSpine(draft, { level, area, runs: "x", across: (south + north) / 2 });
    addEdge(draft, [from.spines[key].ensureNode(west), line.ensureNode(middle)]);
    addEdge(draft, [line.ensureNode(middle), to.spines[key].ensureNode(east)]);
  }
}

/** Links the nodes of the walkways. Call once, after everything is attached. */
export function closeSpines({ spines }: TerminalDrawing): void {
  spines.arrivals.close();
  spines.departures.close();
  spines.airside.close();
}
