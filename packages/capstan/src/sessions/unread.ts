import type { PositionedDelta, StoreNotice } from "../store.ts";

/**
 * What was heard of a session and is not read yet. Facts stay in the store; of pieces only those of the newest position
 * are kept, for the others are out of date, and not more than `most` characters of them.
 */
export interface Unread {
  hear(news: StoreNotice): void;
  /** What was said before the reader came does not count as unread: the store bounds it, and keeps one copy for all. */
  hearBefore(news: StoreNotice): void;
  /** Whether there are facts that were not read yet; asked once. */
  takeFacts(): boolean;
  /** There are still facts to read. */
  keepFacts(): void;
  /** The position that the pieces were said after; -1 without any. */
  position(): number;
  /** All of them, in order. */
  takePieces(): readonly PositionedDelta[];
  /** Whether pieces had to be thrown away. */
  isOverfull(): boolean;
  dropPieces(): void;
}

/** Rings when there is something new. */
export function unread(most: number, ring: () => void): Unread {
  let hasFacts = true;
  let pieces: PositionedDelta[] = [];
  let after = -1;
  let size = 0;

  function drop(): void {
    pieces = [];
    after = -1;
    size = 0;
  }
  function add(piece: PositionedDelta, length: number): void {
    if (piece.after < after) return;
    if (piece.after > after) drop();
    after = piece.after;
    size += length;
    if (size <= most) pieces.push(piece);
    else pieces = [];
  }

  function hearing(lengthOf: (piece: PositionedDelta) => number): (news: StoreNotice) => void {
    return (news) => {
      if (news.type === "message") return;
      if (news.type === "facts") hasFacts = true;
      else for (const piece of news.deltas) add(piece, lengthOf(piece));
      ring();
    };
  }

  return {
    hear: hearing(sizeOf),
    hearBefore: hearing(() => 0),
    takeFacts() {
      const had = hasFacts;
      hasFacts = false;
      return had;
    },
    keepFacts() {
      hasFacts = true;
    },
    position: () => after,
    takePieces() {
      const taken = pieces;
      pieces = [];
      size = 0;
      return taken;
    },
    isOverfull: () => size > most,
    dropPieces: drop,
  };
}

const origin = 150;

/** About the characters of its JSON, which is not made for it: this is asked for every piece and every reader. */
function sizeOf({ delta }: PositionedDelta): number {
  return "delta" in delta ? origin + delta.delta.length : JSON.stringify(delta).length;
}

/** Wakes the one who waits for it. What rings while nobody waits is heard by the next. */
export interface Doorbell {
  ring(): void;
  rung(): Promise<void>;
}

/** For one who waits. */
export function doorbell(): Doorbell {
  let isRung = false;
  let wake: (() => void) | undefined;
  return {
    ring() {
      isRung = true;
      wake?.();
    },
    async rung() {
      if (!isRung)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      wake = undefined;
      isRung = false;
    },
  };
}
