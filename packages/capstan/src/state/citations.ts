import type { Citation, Fragment, NumberedFragment } from "../history.ts";
import type { State } from "./state.ts";

/** A range with more numbers is no citation. */
const maxRangeLength = 20;
const item = String.raw`\d{1,6}(?: ?[-–] ?\d{1,6})?`;
const group = new RegExp(`^${item}(?: ?[,;] ?${item})* ?$`);

/** The numbers in brackets, each once: of `1, 3-5` it is 1, 3, 4, 5. Undefined when that is not how one cites. */
export function parseCitedNumbers(inner: string): readonly number[] | undefined {
  if (!group.test(inner)) return undefined;
  const numbers = new Set<number>();
  for (const part of inner.split(/[,;]/)) {
    const ends = part.split(/[-–]/).map((end) => end.trim());
    if (ends.some((end) => end.length > 1 && end.startsWith("0"))) return undefined;
    const [first = 0, last = first] = ends.map(Number);
    if (last < first || last - first >= maxRangeLength) return undefined;
    for (let number = first; number <= last; number++) numbers.add(number);
  }
  return [...numbers];
}

/**
 * Adds what a tool has found. The number is that of the id in the session, also when the run does not see what was found
 * before; the first content of an id stays.
 */
export function addFragment(state: Pick<State, "fragments" | "numbers">, fragment: Fragment): void {
  const { fragments, numbers } = state;
  if (fragments.has(fragment.id)) return;
  const n = numbers.get(fragment.id) ?? numbers.size + 1;
  numbers.set(fragment.id, n);
  fragments.set(fragment.id, { ...fragment, n });
}

export function toCitation({ n, id, source }: NumberedFragment): Citation {
  return { n, id, title: source.title, ...(source.url !== undefined && { url: source.url }) };
}
