import { toStem } from "./words.ts";

/** A limit on a number, the stem of the property it is about, and the words that express it. */
export type Limit = { readonly stem: string; readonly text: string; accepts(value: number): boolean };

const limitPattern =
  /\b(?<sign>at\s+least|at\s+most|no\s+(?:more|less|fewer)\s+than|(?:more|less|fewer)\s+than|over|under|above|below|up\s+to)\s+(?<number>\d+(?:\.\d+)?)\s+(?<noun>\p{L}+)/iu;
const comparativePattern =
  /\b(?<word>older|younger|cheaper|nearer|closer)\s+than\s+(?<number>\d+(?:\.\d+)?)/iu;

/** The property that a comparative is about, and whether more of it is meant. */
const comparatives: { readonly [word: string]: readonly [stem: string, isMore: boolean] } = {
  older: ["age", true],
  younger: ["age", false],
  cheaper: ["price", false],
  nearer: ["distance", false],
  closer: ["distance", false],
};

/** Parses "at least 5 rooms", "under 40 metres" or "older than 40". */
export function parseLimit(text: string): Limit | undefined {
  const { word = "", number: bound = "" } = comparativePattern.exec(text)?.groups ?? {};
  const [stem, isMore] = comparatives[word.toLowerCase()] ?? [];
  if (stem !== undefined) {
    const accepts = (value: number) => (isMore ? value > Number(bound) : value < Number(bound));
    return { stem, text: `${word} than ${bound}`, accepts };
  }
  const found = limitPattern.exec(text);
  const { sign = "", number = "", noun = "" } = found?.groups ?? {};
  if (!found || noun === "") return undefined;
  const limit = Number(number);
  const accepts = /^(?:at\s+least|no\s+(?:less|fewer))/iu.test(sign)
    ? (value: number) => value >= limit
    : /^(?:at\s+most|no\s+more|up\s+to)/iu.test(sign)
      ? (value: number) => value <= limit
      : /^(?:more|over|above)/iu.test(sign)
        ? (value: number) => value > limit
        : (value: number) => value < limit;
  return { stem: toStem(noun), text: found[0], accepts };
}
