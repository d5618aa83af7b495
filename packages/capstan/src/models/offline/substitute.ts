import type { Json } from "../../json.ts";
import { isColour } from "./read-value.ts";
import { isFiller, stemOf, type Word, wordsOf } from "./words.ts";

type Kind = "colour" | "code" | "plain";

const kindOf = (word: string): Kind =>
  isColour(stemOf(word)) ? "colour" : /\d|[./]/u.test(word) ? "code" : "plain";

/** A sentence with new words in the place of one of its words: the likeliest places first. */
export function substitutes(
  sentence: string,
  fresh: string,
  input: { readonly [key: string]: Json },
): string[] {
  const words = wordsOf(sentence);
  const added = wordsOf(fresh)
    .filter((word) => !isFiller(word))
    .map(({ raw }) => raw)
    .join(" ");
  if (added === "") return [];
  const kind = kindOf(added);
  const values = Object.values(input).map((value) => JSON.stringify(value).toLowerCase());
  const rank = ({ raw, stem }: Word) =>
    (kindOf(raw) === kind ? 0 : 2) + (values.some((value) => value.includes(stem)) ? 0 : 1);
  return words
    .map((word, at) => ({ word, at, rank: rank(word) }))
    .filter(({ word }) => !isFiller(word))
    .sort((left, right) => left.rank - right.rank || left.at - right.at)
    .map(({ at }) => words.map(({ raw }, index) => (index === at ? added : raw)).join(" "));
}
