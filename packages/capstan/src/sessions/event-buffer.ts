import type { PositionedDelta, StoreNotice } from "../store.ts";

/**
 * What was heard of a session and is not read yet. Facts stay in the store; of pieces only those of the newest position
 * are kept, for the others are out of date, and not more than `most` characters of them.
 */
export interface EventBuffer {
  receive(notice: StoreNotice): void;
  /** What was said before the reader came does not count as unread: the store bounds it, and keeps one copy for all. */
  receiveBacklog(notice: StoreNotice): void;
  /** Whether there are facts that were not read yet; asked once. */
  takeFacts(): boolean;
  /** There are still facts to read. */
  markFacts(): void;
  /** The position that the pieces were said after; -1 without any. */
  position(): number;
  /** All of them, in order. */
  takeDeltas(): readonly PositionedDelta[];
  /** Whether pieces had to be thrown away. */
  hasOverflowed(): boolean;
  dropDeltas(): void;
}

/** Rings when there is something new. */
export function createEventBuffer(limit: number, notify: () => void): EventBuffer {
  let hasFacts = true;
  let deltas: PositionedDelta[] = [];
  let after = -1;
  let size = 0;

  function dropDeltas(): void {
    deltas = [];
    after = -1;
    size = 0;
  }
  function add(delta: PositionedDelta, length: number): void {
    if (delta.after < after) return;
    if (delta.after > after) dropDeltas();
    after = delta.after;
    size += length;
    if (size <= limit) deltas.push(delta);
    else deltas = [];
  }

  function createReceiver(measure: (delta: PositionedDelta) => number): (notice: StoreNotice) => void {
    return (notice) => {
      if (notice.type === "message") return;
      if (notice.type === "facts") hasFacts = true;
      else for (const delta of notice.deltas) add(delta, measure(delta));
      notify();
    };
  }

  return {
    receive: createReceiver(measureDelta),
    receiveBacklog: createReceiver(() => 0),
    takeFacts() {
      const hadFacts = hasFacts;
      hasFacts = false;
      return hadFacts;
    },
    markFacts() {
      hasFacts = true;
    },
    position: () => after,
    takeDeltas() {
      const taken = deltas;
      deltas = [];
      size = 0;
      return taken;
    },
    hasOverflowed: () => size > limit,
    dropDeltas,
  };
}

const originLength = 150;

/** About the characters of its JSON, which is not made for it: this is asked for every piece and every reader. */
function measureDelta({ delta }: PositionedDelta): number {
  return "delta" in delta ? originLength + delta.delta.length : JSON.stringify(delta).length;
}

/** Wakes the one who waits for it. What rings while nobody waits is heard by the next. */
export interface Notifier {
  notify(): void;
  wait(): Promise<void>;
}

/** For one who waits. */
export function createNotifier(): Notifier {
  let isNotified = false;
  let wake: (() => void) | undefined;
  return {
    notify() {
      isNotified = true;
      wake?.();
    },
    async wait() {
      if (!isNotified)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      wake = undefined;
      isNotified = false;
    },
  };
}
