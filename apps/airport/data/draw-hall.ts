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

/** The middle line of a walkway. Rooms and other walkways join it where they are; `close` links its nodes in order. */
export type Spine = {
  nodeAt(along: number): number;
  close(): void;
};

export type SpineOf = {
  readonly level: LevelRef;
  readonly area: string;
  /** The direction it runs in, and where it lies across it. */
  readonly runs: "x" | "y";
  readonly across: number;
};

export function spine(draft: Draft, { level, area, runs, across }: SpineOf): Spine {
  const nodes = new Map<number, number>();
  return {
    nodeAt(along) {
      const known = nodes.get(along);
      if (known !== undefined) return known;
      const at: Point = runs === "x" ? [along, across] : [across, along];
      const node = addNode(draft, at, { level: level.id, area });
      nodes.set(along, node);
      return node;
    },
    close() {
      const inOrder = [...nodes].sort(([left], [right]) => left - right).map(([, node]) => node);
      for (const [index, node] of inOrder.entries()) {
        const next = inOrder[index + 1];
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
  /** Where the first slot begins and how long each is. */
  readonly start: number;
  readonly length: number;
  /** From the walkway to the far side of the rooms. */
  readonly door: number;
  readonly back: number;
};

/** The rooms along one side of a walkway, each with a door to it. */
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
      addEdge(draft, [wall.spine.nodeAt(middle), node]);
      addOpening(draft, runs === "x" ? [middle, door] : [door, middle], { level, runs });
    });
  });
}
