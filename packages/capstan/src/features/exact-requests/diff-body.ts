import type { BodyParts, NewRequest } from "./stored-request.ts";
import { diffText, type TextPiece } from "./text-pieces.ts";

export type Body = Pick<NewRequest, "body" | "parts">;

/** Describes a body by what it shares with an earlier request's. */
export function diffBody(base: Body, next: Body): readonly TextPiece[] {
  return (base.parts && next.parts && diffParts(base.parts, next.parts)) ?? diffText(base.body, next.body);
}

/** Reads the new entries only, however long the history is. Returns undefined for another history or head. */
function diffParts(base: BodyParts, { head, history, tail }: BodyParts): readonly TextPiece[] | undefined {
  const isGrown = base.history.entries === history.entries && base.history.count <= history.count;
  if (!isGrown || base.head !== head) return undefined;
  const added = history.entries.slice(base.history.count, history.count).join("");
  return [[0, head.length + base.history.text.length], `${added}${tail}`];
}
