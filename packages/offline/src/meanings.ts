import { isNear, type Word } from "./words.ts";

const set = (words: string): ReadonlySet<string> => new Set(words.split(" "));

/** Words that carry no topic. */
export const fillers: ReadonlySet<string> = set(
  "a an the all any some every each of my your our me i we you us please just kindly now also that which who " +
    "is are was were be been do does did can could would will should shall there here it its them they those " +
    "these this one and or then so for to in on at with about from by into as what where when how why want need " +
    "like let have has get got give tell know whole u pls actually really maybe too use try apply",
);

export const isFiller = ({ stem }: Word): boolean => fillers.has(stem);

const doing: readonly ReadonlySet<string>[] = [
  "find search look locate seek",
  "show display highlight draw where",
  "style color colour paint make turn",
  "read open view content print cat",
  "list enumerate",
  "delete remove erase discard trash",
  "write create save",
  "edit change modify replace fix",
  "reset clear",
].map(set);
const things: readonly ReadonlySet<string>[] = [
  "count many number",
  "direction route way path get",
  "near nearby nearest closest around close",
  "detail info information describe",
  "example sample",
  "wait queue long busy",
  "kind type category sort",
  "email mail message",
].map(set);
const synonyms = [...doing, ...things];

/** Words that can stand for each other wherever they are said. */
const same: readonly ReadonlySet<string>[] = ["nearest closest", "near nearby around"].map(set);

export const isSameWord = (left: string, right: string): boolean =>
  same.some((group) => group.has(left) && group.has(right));

/** Words for what is done, of which there are synonyms. */
export const verbs: ReadonlySet<string> = new Set(doing.flatMap((group) => [...group]));

/** Other words for it. */
export const synonymsOf = (stem: string): string[] =>
  synonyms.filter((group) => group.has(stem)).flatMap((group) => [...group]);

const endings = /(?:ings?|ed|ers?|isons?|ations?|ions?|ments?|ly|e)$/u;

/** What is left of a word without its ending: "compare", "comparing" and "comparison" are one word. */
export function rootOf(stem: string): string {
  const root = stem.replace(endings, "");
  return root.length >= 4 ? root : stem;
}

/** The likeness of another word for the same. */
export const synonym = 0.7;
/** The likeness of a word to what was meant by it. */
export const slip = 0.8;

/** How much two stems mean the same: 1 for the same word, less for a slip or another word for it, 0 for none. */
export function likeness(left: string, right: string): number {
  if (left === right) return 1;
  if (synonyms.some((group) => group.has(left) && group.has(right))) return synonym;
  if (rootOf(left) === rootOf(right)) return 0.9;
  return isNear(left, right) ? slip : 0;
}
