import type { Entry, Fragment, NumberedFragment, ResultEntry } from "../../kernel/history.ts";
import type { State } from "../../kernel/state.ts";
import { formatSources } from "./format-sources.ts";

type CitingState = Pick<State, "history" | "fragments" | "numbers" | "run">;

/** A history as a model reads it. It grows with the history that it was made of. */
type ModelHistory = { readonly isNumbered: boolean; readonly entries: Entry[] };

const modelHistories = new WeakMap<readonly Entry[], ModelHistory>();

/**
 * Returns the history as a model reads it: each result lists its passages, with their numbers. An entry never changes
 * once it was sent, so that providers can cache it, unless the history is compacted. Costs nothing without passages.
 */
export function toModelHistory(state: CitingState): readonly Entry[] {
  const { history, fragments, run } = state;
  if (fragments.size === 0) return history;
  const isNumbered = run?.policy.citations !== "off";
  let known = modelHistories.get(history);
  if (known?.isNumbered !== isNumbered || known.entries.length > history.length)
    known = { isNumbered, entries: [] };
  for (const entry of history.slice(known.entries.length))
    known.entries.push(entry.type === "result" ? withSources(state, entry, isNumbered) : entry);
  modelHistories.set(history, known);
  return known.entries;
}

function withSources(state: CitingState, result: ResultEntry, isNumbered: boolean): ResultEntry {
  const { contexts = [], content } = result;
  const listed = [...new Map(contexts.map((fragment) => [fragment.id, fragment])).values()]
    .flatMap((fragment) => toNumbered(state, fragment))
    .filter(({ isInResult }) => isNumbered || !isInResult);
  if (listed.length === 0) return result;
  const list = formatSources(listed, { isNumbered });
  if (typeof content !== "string") return { ...result, content: [...content, { type: "text", text: list }] };
  return { ...result, content: content === "" ? list : `${content}\n\n${list}` };
}

/** The number of a fragment refers to its first content. A shortened result has no content. */
function toNumbered({ fragments, numbers }: CitingState, fragment: Fragment): readonly NumberedFragment[] {
  const n = numbers.get(fragment.id);
  if (n === undefined) return [];
  const content = fragment.content && (fragments.get(fragment.id)?.content ?? fragment.content);
  return [{ ...fragment, content, n }];
}
