import type { Citation, Fragment, NumberedFragment } from "../../kernel/history.ts";
import type { State } from "../../kernel/state.ts";

/** A longer range is not treated as a citation. */
const maxRangeLength = 20;
const item = "\\d{1,6}(?: ?[-–] ?\\d{1,6})?";
const group = new RegExp(`^${item}(?: ?[,;] ?${item})* ?$`);

/** Parses the text in brackets, such as `1, 3-5`, into unique numbers; undefined if it is not a citation. */
export function parseCitedNumbers(text: string): readonly number[] | undefined {
  if (!group.test(text)) return undefined;
  const numbers = new Set<number>();
  for (const part of text.split(/[,;]/)) {
    const ends = part.split(/[-–]/).map((end) => end.trim());
    if (ends.some((end) => end.length > 1 && end.startsWith("0"))) return undefined;
    const [first = 0, last = first] = ends.map(Number);
    if (last < first || last - first >= maxRangeLength) return undefined;
    for (let number = first; number <= last; number++) numbers.add(number);
  }
  return [...numbers];
}

/**
 * Adds a fragment that a tool found. Its number is fixed per id and session, even for a run that does not see earlier
 * fragments. The first content of an id is kept.
 */
export function addFragment(state: Pick<State, "fragments" | "numbers">, fragment: Fragment): void {
  const { fragments, numbers } = state;
  if (fragments.has(fragment.id)) return;
  const n = numbers.get(fragment.id) ?? numbers.size + 1;
  numbers.set(fragment.id, n);
  fragments.set(fragment.id, { ...fragment, n });
}

/** Returns the fragments that an answer cites, for the agent that asked for it: it has not seen them. */
export function listCited(
  { fragments }: Pick<State, "fragments">,
  citations: readonly Citation[],
): { readonly contexts?: readonly Fragment[] } {
  const contexts = citations.flatMap(({ id: cited }) => {
    const { id, content, source } = fragments.get(cited) ?? {};
    return id === undefined || content === undefined || !source ? [] : [{ id, content, source }];
  });
  return contexts.length > 0 ? { contexts } : {};
}

export function toCitation({ n, id, source }: NumberedFragment): Citation {
  return { n, id, title: source.title, ...(source.url !== undefined && { url: source.url }) };
}
