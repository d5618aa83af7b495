import type { Piece } from "./match-template.ts";
import { isNear, type Word } from "./words.ts";

const nouns = new Set("content text word message following".split(" "));

/** "With the content hello": without what only says that a text follows. */
function withoutNoun(words: readonly Word[], before: Piece | undefined): readonly Word[] {
  if (!before || !("stem" in before) || before.stem !== "with") return words;
  const start = words[0]?.stem === "the" ? 1 : 0;
  const length = words.slice(start).findIndex(({ stem }) => !nouns.has(stem));
  return length > 0 && (start > 0 || words[length]?.gap.includes(":")) ? words.slice(start + length) : words;
}

/** "Buy bread to my list", said to what adds to a list: without what only names that. */
export function withoutAddressee(words: readonly Word[], own: readonly string[]): readonly Word[] {
  const at = words.findLastIndex(({ stem }) => /^(?:to|in|into|on|onto)$/u.test(stem));
  const [, owner, ...named] = at > 0 ? words.slice(at) : [];
  const isOwn = named.length > 0 && named.every(({ stem }) => own.some((part) => isNear(part, stem)));
  return isOwn && /^(?:my|the|our|your)$/u.test(owner?.stem ?? "") ? words.slice(0, at) : words;
}

/** The words of a text that belong to it. `own` are the words of the tool's name. */
export const dictatedBy =
  (own: readonly string[]) =>
  (words: readonly Word[], before: Piece | undefined): readonly Word[] =>
    withoutAddressee(withoutNoun(words, before), own);
