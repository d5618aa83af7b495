import type { FactBody } from "../event.ts";
import type { Fragment } from "../history.ts";
import type { State } from "../state/state.ts";

/** A warning about fragments that came with other content before: their number stands for what was found first. */
export function warnChangedFragments(
  found: readonly Fragment[],
  { fragments, run }: Pick<State, "fragments" | "run">,
): readonly FactBody[] {
  if (found.length === 0) return [];
  const known = new Map<string, string>();
  const changed = new Set<string>();
  const meanwhile = [...(run?.currentTurn?.calls.values() ?? [])].flatMap(
    ({ result }) => result?.contexts ?? [],
  );
  for (const { id, content } of [...meanwhile, ...found]) {
    const first = fragments.get(id)?.content ?? known.get(id) ?? content;
    known.set(id, first);
    if (first !== content) changed.add(id);
  }
  const ids = found.map(({ id }) => id).filter((id, at, all) => changed.has(id) && all.indexOf(id) === at);
  if (ids.length === 0) return [];
  const names = ids.slice(0, 10).map((id) => JSON.stringify(id));
  const message = `A tool found ${names.join(", ")} again with other content. What was found first stays: give changed passages a new id.`;
  return [{ type: "warning", code: "fragment_changed", message }];
}
