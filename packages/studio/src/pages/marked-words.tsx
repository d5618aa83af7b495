import type { ReactNode } from "react";
import { steadyText } from "../markdown/visible-text.ts";

/** A text in which the words that were looked for are marked. */
export function MarkedWords({ text, words }: { readonly text: string; readonly words: string }): ReactNode {
  const wanted = words.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
  if (wanted.length === 0) return steadyText(text);
  const pieces = steadyText(text).split(new RegExp(`(${wanted.join("|")})`, "giu"));
  return pieces.map((piece, index) =>
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one text have no other name
      <mark key={index} className="rounded-xs bg-accent-soft px-px font-medium text-ink">
        {piece}
      </mark>
    ) : (
      piece
    ),
  );
}
