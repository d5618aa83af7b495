import type { DeltaBody } from "../event.ts";
import type { MaskedStream } from "./mask-secrets.ts";

/** A delta that is a piece of a longer text. */
export type Piece = Extract<DeltaBody, { readonly delta: string }>;

export function isPiece<Body extends object>(body: Body): body is Body & Piece {
  return "delta" in body;
}

/** A secret may be spread over several pieces, so those of one text are masked as one. */
export interface MaskedPieces<Shown extends Piece> {
  /** The piece with what can be shown by now, or nothing when all of it is held back. */
  push(piece: Shown): Shown | undefined;
  /** What was held back of all texts, which are over. */
  end(): readonly Shown[];
}

export function maskedPieces<Shown extends Piece>(newStream: () => MaskedStream): MaskedPieces<Shown> {
  const texts = new Map<string, { readonly stream: MaskedStream; last: Shown }>();
  return {
    push(piece) {
      const name = piece.type === "tool_call_delta" ? `${piece.type}/${piece.id}` : piece.type;
      const text = texts.get(name) ?? { stream: newStream(), last: piece };
      texts.set(name, text);
      text.last = piece;
      const delta = text.stream.push(piece.delta);
      if (delta === piece.delta) return piece; // also an empty one, which says that a call has begun
      return delta ? { ...piece, delta } : undefined;
    },
    end() {
      const ended = [...texts.values()];
      texts.clear();
      return ended.flatMap(({ stream, last }) => {
        const delta = stream.end();
        return delta ? [{ ...last, delta }] : [];
      });
    },
  };
}
