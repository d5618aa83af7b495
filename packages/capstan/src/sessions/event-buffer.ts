import type { PositionedDelta, StoreNotice } from "../runtime/store.ts";

/**
 * Notices from the store that a subscriber has not read yet. Facts are not buffered: they stay in the store. Only
 * deltas after the latest position are kept, up to `limit` characters; earlier ones are obsolete.
 */
export interface EventBuffer {
  receive(notice: StoreNotice): void;
  /**
   * Receives deltas sent before the subscription. They do not count toward the limit: the store bounds them and shares
   * one copy among readers.
   */
  receiveBacklog(notice: StoreNotice): void;
  /** True if there may be unread facts. Resets the flag. */
  takeFacts(): boolean;
  /** As `takeFacts`, without the reset. */
  hasFacts(): boolean;
  /** Marks that unread facts remain. */
  markFacts(): void;
  /** Position of the fact that the deltas follow, or -1 without deltas. */
  position(): number;
  /** Removes and returns all deltas, in order. */
  takeDeltas(): readonly PositionedDelta[];
  /** True if deltas were dropped because the limit was exceeded. */
  hasOverflowed(): boolean;
  dropDeltas(): void;
}

/** Creates a buffer that calls `notify` whenever something arrives. */
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
    hasFacts: () => hasFacts,
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

/** Estimates the JSON length of a delta. Serializing would be too slow: this runs for every delta and reader. */
function measureDelta({ delta }: PositionedDelta): number {
  return "delta" in delta ? originLength + delta.delta.length : JSON.stringify(delta).length;
}

/** Wakes a single waiter. A notification without a waiter is kept for the next `wait`. */
export interface Notifier {
  notify(): void;
  wait(): Promise<void>;
}

export function createNotifier(): Notifier {
  let isNotified = false;
  let wake: (() => void) | undefined;
  return {
    notify() {
      isNotified = wake === undefined;
      wake?.();
      wake = undefined;
    },
    // Not async: a second promise for every event of every reader.
    wait() {
      if (!isNotified)
        return new Promise<void>((resolve) => {
          wake = resolve;
        });
      isNotified = false;
      return Promise.resolve();
    },
  };
}
