import { toStem } from "./words.ts";

/** A limit on a number, and the stem of the property it is about. */
export type Limit = { readonly stem: string; accepts(value: number): boolean };

const limitPattern =
  /\b(?<sign>at\s+least|at\s+most|no\s+(?:more|less|fewer)\s+than|(?:more|less|fewer)\s+than|over|under|above|below|up\s+to)\s+(?<number>\d+(?:\.\d+)?)\s+(?<noun>\p{L}+)/iu;

/** Parses "at least 5 rooms" or "under 40 metres". */
export function parseLimit(text: string): Limit | undefined {
  const { sign = "", number = "", noun = "" } = limitPattern.exec(text)?.groups ?? {};
  if (noun === "") return undefined;
  const limit = Number(number);
  const compare = /^(?:at\s+least|no\s+(?:less|fewer))/iu.test(sign)
    ? (value: number) => value >= limit
    : /^(?:at\s+most|no\s+more|up\s+to)/iu.test(sign)
      ? (value: number) => value <= limit
      : /^(?:more|over|above)/iu.test(sign)
        ? (value: number) => value > limit
        : (value: number) => value < limit;
  return { stem: toStem(noun), accepts: compare };
}
