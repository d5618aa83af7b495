import { nextTick } from "node:process";
import type { Random } from "./random.ts";

/** The only source of time in a world: a queue of events by virtual time. Ties are broken at random. */
export interface Scheduler {
  /** Virtual milliseconds since the start. */
  now(): number;
  after(ms: number, fire: () => void): () => void;
  /** Number of events that have fired. */
  readonly fired: number;
  /** Fires events until `isOver` returns true, none are left, or virtual time reaches the limit. */
  run(isOver: () => boolean, untilMs: number): Promise<void>;
}

type ScheduledEvent = { readonly at: number; readonly tie: number; fire: (() => void) | undefined };

export function createScheduler(random: Random): Scheduler {
  const heap: ScheduledEvent[] = [];
  let now = 0;
  let fired = 0;
  return {
    now: () => now,
    get fired() {
      return fired;
    },
    after(ms, fire) {
      const event: ScheduledEvent = { at: now + Math.max(0, ms), tie: random.next(), fire };
      pushEvent(heap, event);
      return () => {
        event.fire = undefined;
      };
    },
    async run(isOver, untilMs) {
      while (!isOver()) {
        const next = heap[0];
        if (!next || next.at > untilMs) return;
        popEvent(heap);
        if (!next.fire) continue;
        now = next.at;
        fired += 1;
        next.fire();
        await settlePromises();
      }
    },
  };
}

/**
 * Resolves when all pending promise callbacks have run. `nextTick` runs once the microtask queue is empty and before any
 * other work of the process, so this is complete, deterministic, and cheaper than a turn of the event loop.
 */
function settlePromises(): Promise<void> {
  return new Promise((resolve) => nextTick(resolve));
}

function isBefore(left: ScheduledEvent, right: ScheduledEvent): boolean {
  return left.at < right.at || (left.at === right.at && left.tie < right.tie);
}

function pushEvent(heap: ScheduledEvent[], event: ScheduledEvent): void {
  let index = heap.length;
  heap.push(event);
  while (index > 0) {
    const parentIndex = (index - 1) >> 1;
    const parent = heap[parentIndex] as ScheduledEvent;
    if (!isBefore(event, parent)) break;
    heap[index] = parent;
    index = parentIndex;
  }
  heap[index] = event;
}

function popEvent(heap: ScheduledEvent[]): void {
  const last = heap.pop();
  if (!last || heap.length === 0) return;
  let index = 0;
  for (;;) {
    let childIndex = 2 * index + 1;
    const left = heap[childIndex];
    const right = heap[childIndex + 1];
    if (!left) break;
    if (right && isBefore(right, left)) childIndex += 1;
    const child = heap[childIndex] as ScheduledEvent;
    if (!isBefore(child, last)) break;
    heap[index] = child;
    index = childIndex;
  }
  heap[index] = last;
}
