import type { News, Piece } from "../store.ts";

/**
 * What was heard of a session and is not read yet. Facts stay in the store; of pieces only those of the newest position
 * are kept, for the others are out of date, and not more than `most` characters of them.
 */
export interface Unread {
  hear(news: News): void;
  /** Whether there are facts that were not read yet; asked once. */
  takeFacts(): boolean;
  /** There are still facts to read. */
  keepFacts(): void;
  /** The position that the pieces were said after; -1 without any. */
  position(): number;
  takePiece(): Piece | undefined;
  /** Whether pieces had to be thrown away. */
  isOverfull(): boolean;
  dropPieces(): void;
}

/** Rings when there is something new. */
export function unread(most: number, ring: () => void): Unread {
  let hasFacts = true;
  let pieces: Piece[] = [];
  let after = -1;
  let size = 0;

  function drop(): void {
    pieces = [];
    after = -1;
    size = 0;
  }
  function add(piece: Piece): void {
    if (piece.after < after) return;
    if (piece.after > after) drop();
    after = piece.after;
    size += JSON.stringify(piece.delta).length;
    if (size <= most) pieces.push(piece);
    else pieces = [];
  }

  return {
    hear(news) {
      if (news.type === "told") return;
      if (news.type === "facts") hasFacts = true;
      else for (const piece of news.pieces) add(piece);
      ring();
    },
    takeFacts() {
      const had = hasFacts;
      hasFacts = false;
      return had;
    },
    keepFacts() {
      hasFacts = true;
    },
    position: () => after,
    takePiece() {
      const piece = pieces.shift();
      if (piece) size -= JSON.stringify(piece.delta).length;
      return piece;
    },
    isOverfull: () => size > most,
    dropPieces: drop,
  };
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
