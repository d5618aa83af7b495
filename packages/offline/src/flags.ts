import type { Property } from "./properties.ts";
import { isNear, type Word, wordsOf } from "./words.ts";

export type Flagged = { readonly rest: readonly Word[]; readonly flags: { readonly [name: string]: true } };

/**
 * What a sentence says in passing: "without delay", "smoke-free", where the description of an argument that is true or
 * false has these words; and the sentence without them.
 */
export function flagsIn(words: readonly Word[], properties: readonly Property[]): Flagged {
  const flags: Record<string, true> = {};
  let rest = words;
  for (const { name, type, description } of properties) {
    if (type !== "boolean") continue;
    const about = wordsOf(description);
    const lengths = rest.map((_, at) => lengthAt(rest.slice(at), about));
    const at = lengths.findIndex((length) => length > 0);
    if (at < 0) continue;
    flags[name] = true;
    rest = rest.toSpliced(at, lengths[at] ?? 0);
  }
  return { rest, flags };
}

/** How many words from the first on are said in the description too: "without" and what follows, or a word with a dash. */
function lengthAt(words: readonly Word[], about: readonly Word[]): number {
  const [first] = words;
  const at = about.findIndex(({ stem }) => stem === first?.stem);
  if (at < 0) return 0;
  if (first?.stem !== "without") return first?.stem.includes("-") ? 1 : 0;
  const end = words.findIndex(({ stem }, index) => !isNear(about[at + index]?.stem ?? "", stem));
  const length = end < 0 ? words.length : end;
  return length > 1 ? length : 0;
}
