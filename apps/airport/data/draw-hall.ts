import {
  addEdge,
  addNode,
  addOpening,
  addRoom,
  type Draft,
  type LevelRef,
  type Point,
  type Rect,
} from "./draft.ts";
import type { Slot } from "./room.ts";

/** The center line of a walkway. Rooms and other walkways attach to it; `close` links its nodes in order. */
export type Spine = {
  ensureNode(along: number): number;
  close(): void;
};

export type SpineOptions = {
  readonly level: LevelRef;
  readonly area: string;
  /** The axis of the walkway, and its position on the other axis. */
  readonly runs: "x" | "y";
  readonly across: number;
};

export function createSpine(draft: Draft, { level, area, runs, across }: SpineOptions): Spine {
  const nodes = new Map<number, number>();
  return {
    ensureNode(along) {
      const known = nodes.get(along);
      if (known !== undefined) return known;
      const at: Point = runs === "x" ? [along, across] : [across, along];
      const node = addNode(draft, at, { level: level.id, area });
      nodes.set(along, node);
      return node;
    },
    close() {
      const orderedNodes = [...nodes].sort(([left], [right]) => left - right).map(([, node]) => node);
      for (const [index, node] of orderedNodes.entries()) {
        const next = orderedNodes[index + 1];
        if (next !== undefined) addEdge(draft, [node, next]);
      }
    },
  };
}

export type Wall = {
  readonly spine: Spine;
  readonly level: LevelRef;
  readonly area: string;
  readonly runs: "x" | "y";
  /** Start of the first slot, and the length of each. */
  readonly start: number;
  readonly length: number;
  /** The rooms reach from the door side to the back. */
  readonly door: number;
  readonly back: number;
};

/** Draws the rooms along one side of a walkway, each with a door to it. */
export function drawWall(draft: Draft, slots: readonly Slot[], wall: Wall): void {
  const { level, area, runs, start, length, door, back } = wall;
  const [near, far] = door < back ? [door, back] : [back, door];
  slots.forEach((slot, index) => {
    const share = length / slot.length;
    slot.forEach((room, place) => {
      const begin = start + index * length + place * share;
      const rect: Rect = runs === "x" ? [begin, near, begin + share, far] : [near, begin, far, begin + share];
      const node = addRoom(draft, room, { rect, level, area });
      if (node === undefined) return;
      const middle = begin + share / 2;
      addEdge(draft, [wall.spine.ensureNode(middle), node]);
      addOpening(draft, runs === "x" ? [middle, door] : [door, middle], { level, runs });
    });
  });
}
