import type { Continued } from "./correction.ts";
import type { Meaning } from "./follow-up.ts";
import { examplesOf } from "./match-template.ts";
import { isFiller } from "./meanings.ts";
import { isColour, numberIn } from "./read-value.ts";
import { distance, joined, type Word, wordsOf } from "./words.ts";

type Kind = "colour" | "number" | "code" | "plain";

const kindOf = (words: readonly Word[]): Kind => {
  if (words.some(({ stem }) => isColour(stem))) return "colour";
  if (words.some(({ raw }) => numberIn(raw) !== undefined && words.length === 1)) return "number";
  return words.some(({ raw }) => /\d|[./]/u.test(raw)) ? "code" : "plain";
};

/** A part of a sentence that can be said anew. */
type Place = {
  readonly from: number;
  readonly length: number;
  readonly rank: number;
  readonly isMeant?: boolean;
};

/** Each is matched with all tools. */
const mostTried = 8;

/** A sentence with new words in the place of some of its own: the likeliest places first. */
export function substitutes(
  { text, wishes }: Pick<Meaning, "text" | "wishes">,
  { fresh, instead, isCorrection }: Continued,
): string[] {
  const words = wordsOf(text);
  const said = wordsOf(fresh);
  const added = said.filter((word) => !isFiller(word));
  if (added.length === 0) return [];
  const preposition = said.find(isPreposition)?.stem;
  const kind = kindOf(added);
  const ranked = [...slotPlaces(wishes, words, preposition), ...windows(added, words), ...singles(words)].map(
    ({ from, length, rank, isMeant }) => {
      const isOther = kindOf(words.slice(from, from + length)) !== kind;
      const isAfter = preposition === undefined || isMeant || words[from - 1]?.stem === preposition;
      const isWrong = isCorrection && isLike(words.slice(from, from + length), instead ?? joined(added));
      return { from, length, rank: rank + (isOther ? 1.5 : 0) + (isAfter ? 0 : 3) - (isWrong ? 5 : 0) };
    },
  );
  // "And in spring?" is about the last thing that was said with "in".
  const order = preposition === undefined ? 1 : -1;
  const changes = ranked
    .sort((left, right) => left.rank - right.rank || order * (left.from - right.from))
    .slice(0, mostTried)
    .map(({ from, length }) => [...words.slice(0, from), ...added, ...words.slice(from + length)])
    .map((changed) => changed.map(({ raw }) => raw).join(" "));
  // "Without delay" is said of all that was said before.
  const [first] = said;
  const isAdded = first && isPreposition(first) && !words.some(({ stem }) => stem === first.stem);
  return isAdded ? [`${text.replace(/[.!?\s]+$/u, "")} ${fresh}`, ...changes] : changes;
}

/** Who corrects himself says almost the same, or says what was wrong. */
function isLike(words: readonly Word[], said: string): boolean {
  const bare = (some: readonly Word[]) => joined(some.filter((word) => !isFiller(word))).toLowerCase();
  const wanted = bare(wordsOf(said));
  const old = bare(words);
  return old !== "" && (old === wanted || old.split(" ").some((part) => distance(part, wanted) <= 1));
}

/** What stands at the slots of the examples; meant by "in …" is a slot that another example has after "in". */
function slotPlaces(
  wishes: Meaning["wishes"],
  words: readonly Word[],
  preposition: string | undefined,
): Place[] {
  return wishes.flatMap(({ match: { tool, example } }) =>
    [...(example?.slots ?? [])].flatMap(([slot, value]) => {
      const isMeant = examplesOf(tool).some(({ phrase }) => phrase.includes(`${preposition} {${slot}}`));
      return placeOf(wordsOf(value), words).map((place) => ({ ...place, rank: 0, isMeant }));
    }),
  );
}

/** Words that tell something, and pronouns, which tell nothing by themselves. */
function singles(words: readonly Word[]): Place[] {
  return words.flatMap((word, from) => {
    const isPronoun = word.stem === "them" || word.stem === "it";
    return isFiller(word) && !isPronoun ? [] : [{ from, length: 1, rank: isPronoun ? 1 : 2 }];
  });
}

/** "80 pages" takes the place of "5 pages": as many words, each of the same kind, one of them the same. */
function windows(added: readonly Word[], words: readonly Word[]): Place[] {
  const { length } = added;
  if (length < 2) return [];
  return words.flatMap((_, from) => {
    const window = words.slice(from, from + length);
    const isAlike = window.every((word, at) => kindOf([word]) === kindOf(added.slice(at, at + 1)));
    const isShared = window.some(({ stem }) => added.some((word) => word.stem === stem));
    return window.length === length && isAlike && isShared ? [{ from, length, rank: -3 }] : [];
  });
}

const isPreposition = ({ stem }: Word): boolean =>
  /^(?:to|from|near|in|at|with|without|for|by|of|on|via)$/u.test(stem);

function placeOf(phrase: readonly Word[], words: readonly Word[]): { from: number; length: number }[] {
  const wanted = joined(phrase).toLowerCase();
  for (let from = 0; from + phrase.length <= words.length; from++)
    if (joined(words.slice(from, from + phrase.length)).toLowerCase() === wanted)
      return [{ from, length: phrase.length }];
  return [];
}
