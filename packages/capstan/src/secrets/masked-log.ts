import type { DeltaBody, FactBody } from "../event.ts";
import type { Masking } from "./mask.ts";
import { isPiece, maskedPieces, type Piece } from "./mask-deltas.ts";
import { isBrokenOff } from "./mask-fact.ts";

/** The way of a run into its log and to its listeners. */
type Log = {
  append(bodies: readonly FactBody[], place: string, heard?: readonly string[]): Promise<void>;
  emit(delta: DeltaBody): void;
};

/**
 * A log that masks what it is told. A piece of a text that may be the beginning of a secret is held back until the next
 * one, or the end of the message, shows whether it is.
 */
export function maskedLog(log: Log, masking: Masking): Log {
  const pieces = maskedPieces<Piece>(masking.newStream);
  return {
    append(bodies, place, heard) {
      // A warning can come in the middle of a message; all else comes after its end.
      const held = bodies.every(({ type }) => type === "warning") ? [] : pieces.end();
      const isCut = bodies.some(isBrokenOff);
      for (const piece of held) log.emit(isCut ? { ...piece, delta: masking.cutText(piece.delta) } : piece);
      return log.append(bodies.map(masking.fact), place, heard);
    },
    emit(delta) {
      if (isPiece(delta)) {
        const shown = pieces.push(delta);
        if (shown) log.emit(shown);
        return;
      }
      // What was held back is void with the rest.
      if (delta.type === "message_restart") pieces.end();
      log.emit(masking.fact(delta));
    },
  };
}
