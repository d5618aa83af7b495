import type { Meaning } from "./follow-up.ts";
import { onlyRefersBack } from "./refer-back.ts";
import { wordsOf } from "./words.ts";

const isBack =
  /^\s*(?:and\s+)?(?:how\s+do\s+(?:i|we)\s+get\s+|take\s+me\s+)?(?:(?:the\s+)?(?:way|route|trip|directions?)\s+)?(?:back|in\s+reverse|vice\s+versa|the\s+other\s+way(?:\s+(?:a?round))?)(?:\s+again)?[\s?.!]*$/iu;

/** "And back?" after what went from one place to another: the same sentence with the two places swapped. */
export function wayBack(fresh: string, { wishes }: Pick<Meaning, "wishes">): string | undefined {
  const [only, ...others] = wishes;
  const example = only?.match.example;
  if (!isBack.test(fresh) || !example || others.length > 0 || example.slots.size !== 2) return undefined;
  const start = /\bfrom \{([^}]*)\}/u.exec(example.phrase)?.[1] ?? "";
  const end = /\bto \{([^}]*)\}/u.exec(example.phrase)?.[1] ?? "";
  const values = new Map([
    [start, example.slots.get(end)],
    [end, example.slots.get(start)],
  ]);
  if ([...values.values()].some((value) => value === undefined || onlyRefersBack(wordsOf(value))))
    return undefined;
  return example.phrase.replace(/\{([^}]*)\}/gu, (_, slot: string) => values.get(slot) ?? "");
}
