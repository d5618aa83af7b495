import { nextTick } from "node:process";
import type { Chance } from "./chance.ts";

/** The only source of time in a world: what is to happen, by virtual time. Ties are broken by chance. */
export interface Scheduler {
  /** Virtual milliseconds since the world began. */
  now(): number;
  after(ms: number, fire: () => void): () => void;
  /** Events that have happened. */
  readonly fired: number;
  /** Lets things happen until `isOver` says so, nothing is left, or the limit of virtual time is reached. */
  run(isOver: () => boolean, untilMs: number): Promise<void>;
}

type Happening = { readonly at: number; readonly tie: number; fire: (() => void) | undefined };

export function scheduler(chance: Chance): Scheduler {
  const heap: Happening[] = [];
  let now = 0;
  let fired = 0;
  return {
    now: () => now,
    get fired() {
      return fired;
    },
    after(ms, fire) {
      const happening: Happening = { at: now + Math.max(0, ms), tie: chance.next(), fire };
      push(heap, happening);
      return () => {
        happening.fire = undefined;
      };
    },
    async run(isOver, untilMs) {
      while (!isOver()) {
        const next = heap[0];
        if (!next || next.at > untilMs) return;
        pop(heap);
        if (!next.fire) continue;
        now = next.at;
        fired += 1;
        next.fire();
        await settled();
      }
    },
  };
}

/**
 * Resolves when every promise that can go on has gone on. A tick is run when the queue of microtasks is empty and before
 * anything else of the process, so this is complete, always the same, and costs no turn of the event loop.
 */
function settled(): Promise<void> {
  return new Promise((resolve) => nextTick(resolve));
}

function isBefore(left: Happening, right: Happening): boolean {
  return left.at < right.at || (left.at === right.at && left.tie < right.tie);
}

function push(heap: Happening[], happening: Happening): void {
  let place = heap.length;
  heap.push(happening);
  while (place > 0) {
    const above = (place - 1) >> 1;
    const parent = heap[above] as Happening;
    if (!isBefore(happening, parent)) break;
    heap[place] = parent;
    place = above;
  }
  heap[place] = happening;
}

function pop(heap: Happening[]): void {
  const last = heap.pop();
  if (!last || heap.length === 0) return;
  let place = 0;
  for (;;) {
    let below = 2 * place + 1;
    const left = heap[below];
    const right = heap[below + 1];
    if (!left) break;
    if (right && isBefore(right, left)) below += 1;
    const child = heap[below] as Happening;
    if (!isBefore(child, last)) break;
    heap[place] = child;
    place = below;
  }
  heap[place] = last;
}
