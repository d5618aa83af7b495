import type { LiveView } from "capstan/client";
import { formatCount } from "capstan/sessions";
import type { ReactNode } from "react";
import { escapeBidi } from "../../ui/escape-text.ts";

type DiscardedLineProps = { readonly discarded: NonNullable<LiveView["discarded"]> };

/** Shown while an answer is written again, because the text before it has disappeared. */
export function DiscardedLine({ discarded }: DiscardedLineProps): ReactNode {
  const { model = "The model", discarded: characters } = discarded;
  const size = characters === undefined ? "" : ` of ${formatCount(characters, "character")}`;
  return (
    <p className="text-sm text-quiet">
      {escapeBidi(model)} failed, and its incomplete answer{size} was discarded.
    </p>
  );
}
