import type { Json } from "capstan";
import type { ReactNode } from "react";
import { escapeBidi } from "../../ui/escape-text.ts";

const maxKinds = 4;
const maxKindLength = 40;

/**
 * Formats the `affected` values of results, such as `{ nodes: […], edges: 1 }`, as "3 nodes and 1 edge changed". Items
 * that were changed twice count once if they can be identified.
 */
export function formatAffected(affected: readonly Json[]): string | undefined {
  const kinds = new Map<string, { readonly names: Set<string>; count: number }>();
  for (const change of affected)
    for (const [kind, value] of Object.entries(toKinds(change))) {
      const counted = kinds.get(kind) ?? { names: new Set(), count: 0 };
      kinds.set(kind, counted);
      if (typeof value === "number" && value > 0) counted.count += Math.round(value);
      if (Array.isArray(value)) for (const item of value) counted.names.add(getIdentity(item));
    }
  const counts = [...kinds]
    .map(([kind, { names, count }]) => [kind, names.size + count] as const)
    .filter(([, count]) => count > 0)
    .slice(0, maxKinds)
    .map(([kind, count]) => `${count} ${formatKind(kind, count)}`);
  return counts.length === 0 ? undefined : `${joinWithAnd(counts)} changed`;
}

function toKinds(affected: Json): { readonly [kind: string]: Json } {
  if (Array.isArray(affected) || typeof affected === "number") return { things: affected };
  return typeof affected === "object" && affected !== null ? (affected as { [kind: string]: Json }) : {};
}

function getIdentity(item: Json): string {
  if (typeof item !== "object" || item === null || Array.isArray(item)) return JSON.stringify(item);
  const { id } = item as { readonly id?: Json };
  return JSON.stringify(typeof id === "string" || typeof id === "number" ? id : item);
}

function formatKind(kind: string, count: number): string {
  const name = kind.slice(0, maxKindLength);
  return count === 1 ? name.replace(/s$/, "") : name;
}

function joinWithAnd(texts: readonly string[]): string {
  if (texts.length < 2) return texts.join("");
  return `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`;
}

/** Shows what a run changed, below its answer. */
export function AffectedLine({
  affected = [],
}: {
  readonly affected: readonly Json[] | undefined;
}): ReactNode {
  const text = formatAffected(affected);
  if (text === undefined) return null;
  return (
    <p data-affected="" className="text-quiet text-sm">
      {escapeBidi(text)}
    </p>
  );
}
