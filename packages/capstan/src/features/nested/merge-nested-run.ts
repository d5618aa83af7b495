import type { CallPart } from "../../kernel/history.ts";
import { addLabels, hasExternal, listReads } from "../../kernel/provenance.ts";
import type { RunState, State } from "../../kernel/state.ts";
import { addFragment } from "../citations/fragments.ts";

/** Merges a finished nested run into its parent: fragments, changes, and labels of the data it read. */
export function mergeNestedRun(
  state: State,
  run: RunState,
  { id, name, input }: Pick<CallPart, "id" | "name" | "input">,
): void {
  const child = run.nested.get(id);
  if (!child) return;
  run.nested.delete(id);
  for (const fragment of child.fragments.values()) addFragment(state, fragment);
  if (child.run?.hasSearched) run.hasSearched = true;
  run.affected.push(...(child.run?.affected ?? []));
  const missing = listReads(child.labels).filter(
    (label) => hasExternal(child.labels[label]) && !hasExternal(state.labels[label]),
  );
  addLabels(state.labels, missing, { tool: name, turn: run.turn, input });
}
