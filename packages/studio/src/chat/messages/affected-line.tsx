import type { Json } from "capstan";
import type { ReactNode } from "react";
import { steadyText } from "../../markdown/visible-text.ts";

const mostKinds = 4;
const longestKind = 40;

/**
 * "3 nodes and 1 edge changed", from what results say they have affected: `{ nodes: […], edges: […] }`, numbers in place of
 * the lists, or a list alone. What was changed twice counts once, as far as it has a name.
 */
export function affectedWords(affected: readonly Json[]): string | undefined {
  const kinds = new Map<string, { readonly names: Set<string>; count: number }>();
  for (const one of affected)
    for (const [kind, value] of Object.entries(kindsOf(one))) {
      const known = kinds.get(kind) ?? { names: new Set(), count: 0 };
      kinds.set(kind, known);
      if (typeof value === "number" && value > 0) known.count += Math.round(value);
      if (Array.isArray(value)) for (const thing of value) known.names.add(nameOf(thing));
    }
  const counts = [...kinds]
    .map(([kind, { names, count }]) => [kind, names.size + count] as const)
    .filter(([, count]) => count > 0)
    .slice(0, mostKinds)
    .map(([kind, count]) => `${count} ${kindName(kind, count)}`);
  return counts.length === 0 ? undefined : `${listed(counts)} changed`;
}

function kindsOf(affected: Json): { readonly [kind: string]: Json } {
  if (Array.isArray(affected) || typeof affected === "number") return { things: affected };
  return typeof affected === "object" && affected !== null ? (affected as { [kind: string]: Json }) : {};
}

/** By what two results mean the same thing. */
function nameOf(thing: Json): string {
  if (typeof thing !== "object" || thing === null || Array.isArray(thing)) return JSON.stringify(thing);
  const { id } = thing as { readonly id?: Json };
  return JSON.stringify(typeof id === "string" || typeof id === "number" ? id : thing);
}

function kindName(kind: string, count: number): string {
  const name = kind.slice(0, longestKind);
  return count === 1 ? name.replace(/s$/, "") : name;
}

function listed(texts: readonly string[]): string {
  if (texts.length < 2) return texts.join("");
  return `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`;
}

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
