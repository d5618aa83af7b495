import type { Property } from "./properties.ts";
import { isNear, type Word, wordsOf } from "./words.ts";

export type Flagged = { readonly rest: readonly Word[]; readonly flags: { readonly [name: string]: true } };

/**
 * What a sentence says in passing: "without stairs", "step-free", where the description of an argument that is true or
 * false has these words; and the sentence without them.
 */
export function flagsIn(words: readonly Word[], properties: readonly Property[]): Flagged {
  const flags: Record<string, true> = {};
  let rest = words;
  for (const { name, type, description } of properties) {
    if (type !== "boolean") continue;
    const about = wordsOf(description);
    const at = rest.findIndex((word, index) => isSaidOf(word, rest[index + 1], about));
    if (at < 0) continue;
    flags[name] = true;
    rest = rest.toSpliced(at, rest[at]?.stem === "without" ? 2 : 1);
  }
  return { rest, flags };
}

function isSaidOf(word: Word, next: Word | undefined, about: readonly Word[]): boolean {
  if (word.stem !== "without") return word.stem.includes("-") && about.some(({ stem }) => stem === word.stem);
  return about.some(
    ({ stem }, at) =>
      stem === "without" && next !== undefined && isNear(about[at + 1]?.stem ?? "", next.stem),
  );
}
