import type { Json } from "capstan";
import type { ReactNode } from "react";
import { steadyText } from "../markdown/visible-text.ts";
import { affectedWords } from "./affected-words.ts";

/** How much a run has changed, under its answer. */
export function AffectedLine({
  affected = [],
}: {
  readonly affected: readonly Json[] | undefined;
}): ReactNode {
  const words = affectedWords(affected);
  if (words === undefined) return null;
  return (
    <p data-affected="" className="text-quiet text-sm">
      {steadyText(words)}
    </p>
  );
}
