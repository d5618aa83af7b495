import type { Json } from "capstan";
import { describeItem } from "./describe-data.ts";
import type { Item, KnownResult } from "./known-results.ts";
import { isFiller, likeness } from "./meanings.ts";
import { type Word, wordsOf } from "./words.ts";

/** What makes something the first of a list, and the properties that tell it. */
const superlatives: readonly (readonly [words: RegExp, of: RegExp, order: 1 | -1])[] = [
  [/^(?:fast|quick|short)est$/u, /minute|second|duration|time|wait|distance|met(?:re|er)|length/iu, 1],
  [/^(?:near|clos)est$/u, /distance|met(?:re|er)/iu, 1],
  [/^(?:slow|long)est$/u, /minute|second|duration|time|wait|length|distance|met(?:re|er)/iu, -1],
  [/^(?:far|furth|farth)est$/u, /distance|met(?:re|er)/iu, -1],
  [/^(?:cheap)est$/u, /price|cost|amount/iu, 1],
  [/^(?:young)est$/u, /age/iu, 1],
  [/^(?:old)est$/u, /age/iu, -1],
  [/^(?:small|low)est|fewest|least$/u, /./u, 1],
  [/^(?:big|larg|high|great)g?est|most$/u, /./u, -1],
];

/** "Which of them are …?", "which one is the nearest?": answered from the list that was just given. */
export function askOfList(
  text: string,
  results: readonly KnownResult[],
  hideIds: boolean,
): string | undefined {
  if (!/^(?:and\s+|so\s+)?(?:which|what|who|how many)\b.*\b(?:them|these|those|one|ones)\b/iu.test(text))
    return undefined;
  const items = results.find((result) => result.items.length > 1)?.items ?? [];
  const words = wordsOf(text).filter((word) => !isFiller(word));
  const found = extreme(items, words) ?? fitting(items, words);
  if (found.length === 0) return undefined;
  const lines = found.map((item) => describeItem(item, { hideIds, most: 6 }));
  return lines.length === 1 ? `${lines[0]}.` : lines.map((line) => `- ${line}`).join("\n");
}

function extreme(items: readonly Item[], words: readonly Word[]): readonly Item[] | undefined {
  for (const [superlative, of, order] of superlatives) {
    if (!words.some(({ stem }) => superlative.test(stem))) continue;
    const key = Object.keys(items[0] ?? {}).find(
      (name) => of.test(name) && typeof items[0]?.[name] === "number",
    );
    if (key === undefined) return undefined;
    const sorted = items
      .filter((item) => typeof item[key] === "number")
      .toSorted((left, right) => order * (Number(left[key]) - Number(right[key])));
    return sorted.filter((item) => item[key] === sorted[0]?.[key]);
  }
  return undefined;
}

/** The things with most of the words in what is known of them, if any has one. */
function fitting(items: readonly Item[], words: readonly Word[]): readonly Item[] {
  const hits = (item: Item) => {
    const stems = wordsOf(textIn(item)).map(({ stem }) => stem);
    const found = words.filter((word) => stems.some((stem) => likeness(word.stem, stem) >= 0.8));
    // A name, such as that of a country's food, says more than a common word.
    return found.reduce((sum, { raw }) => sum + (/^\p{Lu}/u.test(raw) ? 2 : 1), 0);
  };
  const most = Math.max(0, ...items.map(hits));
  return most === 0 ? [] : items.filter((item) => hits(item) === most);
}

const textIn = (value: Json): string =>
  typeof value === "object" && value !== null ? Object.values(value).map(textIn).join(" ") : String(value);
