import { isSimilar, type Word } from "./words.ts";

const toWordSet = (words: string): ReadonlySet<string> => new Set(words.split(" "));

/** Words without a topic. */
export const fillers: ReadonlySet<string> = toWordSet(
  "a an the all any some every each of my your our me i we you us please just kindly now also that which who " +
    "is are was were be been do does did can could would will should shall there here it its them they those " +
    "these this one and or then so for to in on at with about from by into as what where when how why want need " +
    "like let have has get got give tell know whole u pls actually really maybe too use try apply",
);

export const isFiller = ({ stem }: Word): boolean => fillers.has(stem);

/** Words that say what to do with a topic or how it relates to others, and are not part of it. */
const taskWords = toWordSet(
  "between difference compare comparison versus vs explain describe summary summarize summarise overview example mean " +
    "meaning word work happen question answer information info detail doc documentation page say called without before " +
    "after during while still up out off much many another other else same too",
);

export const isTaskWord = ({ stem }: Word): boolean => [...taskWords].some((word) => isSimilar(word, stem));

const verbGroups: readonly ReadonlySet<string>[] = [
  "find search look locate seek",
  "show display highlight draw where",
  "style color colour paint make turn",
  "read open view content print cat",
  "list enumerate",
  "delete remove erase discard trash",
  "write create save",
  "edit change modify replace fix",
  "reset clear",
].map(toWordSet);
const topicGroups: readonly ReadonlySet<string>[] = [
  "count many number",
  "direction route way path get",
  "near nearby nearest closest around close",
  "detail info information describe",
  "example sample",
  "wait queue long busy",
  "kind type category sort",
  "email mail message",
].map(toWordSet);
const synonymGroups = [...verbGroups, ...topicGroups];

/** Words that are interchangeable in any context. */
const interchangeableGroups: readonly ReadonlySet<string>[] = [
  "nearest closest",
  "near nearby around close",
  "about on regarding concerning",
  "email mail e-mail",
].map(toWordSet);

export const areInterchangeable = (left: string, right: string): boolean =>
  interchangeableGroups.some((group) => group.has(left) && group.has(right));

/** All verbs that have synonyms. */
export const verbs: ReadonlySet<string> = new Set(verbGroups.flatMap((group) => [...group]));

export const getSynonyms = (stem: string): string[] =>
  synonymGroups.filter((group) => group.has(stem)).flatMap((group) => [...group]);

const endings = /(?:ings?|ed|ers?|isons?|ations?|ions?|ments?|ly|e)$/u;

/** Strips the ending of a stem: "compare", "comparing" and "comparison" have the same root. */
export function toRoot(stem: string): string {
  const root = stem.replace(endings, "");
  return root.length >= 4 ? root : stem;
}

/** Similarity of synonyms. */
export const synonymScore = 0.7;
/** Similarity of a word with a typo. */
export const typoScore = 0.8;

/** The similarity of two stems: 1 if they are equal, less for typos and synonyms, 0 if they are unrelated. */
export function computeSimilarity(left: string, right: string): number {
  if (left === right) return 1;
  if (synonymGroups.some((group) => group.has(left) && group.has(right))) return synonymScore;
  if (toRoot(left) === toRoot(right)) return 0.9;
  return isSimilar(left, right) ? typoScore : 0;
}

/** Words that may precede a request: "could you please show …". */
export const isLeadIn = (word: Word): boolean =>
  isFiller(word) ||
  /^(?:now|first|next|again|quickly|show|list|see|find|out|check|hello|sorry|only)$/u.test(word.stem);

export const isPolite = ({ stem }: Word): boolean =>
  /^(?:please|pls|thank|thanks|now|today|too|again|instead|there|then)$/u.test(stem);
export const isTrailing = (word: Word): boolean => isPolite(word) || isFiller(word);
