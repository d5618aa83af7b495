import { foldCase, listTerms } from "../../base/terms.ts";
import type { Citation, NumberedFragment } from "../../kernel/history.ts";
import { parseCitedNumbers } from "../citations/fragments.ts";

type CitedText = {
  readonly text: string;
  readonly citations: readonly Citation[];
  readonly fragments: ReadonlyMap<string, NumberedFragment>;
};

/**
 * Whether a text cites passages, and each of them supports its sentence: they share words, and together the passages of a
 * sentence have a third of its words and its numbers of two or more digits. Compares words, not meaning. Passages that
 * are not among the fragments, such as a provider's, are not checked.
 */
export function isSupported({ text, citations, fragments }: CitedText): boolean {
  if (citations.length === 0) return false;
  const passages = new Map<number, Passage>();
  for (const { n, id } of citations) {
    const fragment = fragments.get(id);
    if (fragment) passages.set(n, toPassage(fragment));
  }
  return splitParagraphs(text).every((paragraph) =>
    splitSentences(paragraph).every((sentence) => isSentenceSupported(sentence, paragraph, passages)),
  );
}

type Passage = { readonly words: string; readonly numbers: ReadonlySet<string> };

function toPassage({ content, source }: NumberedFragment): Passage {
  const text = `${source.title}\n${content}`;
  return { words: foldCase(text), numbers: new Set(listNumbers(text)) };
}

/** A shorter sentence, such as "Yes [1]." or "According to [1]:", says what its paragraph says. */
const minTerms = 3;

function isSentenceSupported(
  sentence: string,
  paragraph: string,
  passages: ReadonlyMap<number, Passage>,
): boolean {
  const cited = listCited(sentence).flatMap((n) => passages.get(n) ?? []);
  if (cited.length === 0) return true;
  const claim = removeMarkers(sentence);
  const numbers = listNumbers(claim);
  if (!numbers.every((number) => number.length < 2 || cited.some((passage) => passage.numbers.has(number))))
    return false;
  const terms = listTerms(claim);
  if (terms.length < minTerms) {
    const context = removeMarkers(paragraph);
    return cited.every((passage) => sharesContent(passage, listTerms(context), listNumbers(context)));
  }
  const found = terms.filter((term) => cited.some(({ words }) => words.includes(term)));
  return found.length * 3 >= terms.length && cited.every((passage) => sharesContent(passage, terms, numbers));
}

function sharesContent(passage: Passage, terms: readonly string[], numbers: readonly string[]): boolean {
  if (terms.length + numbers.length === 0) return true;
  return (
    terms.some((term) => passage.words.includes(term)) ||
    numbers.some((number) => passage.numbers.has(number))
  );
}

const marker = /\[(\d[\d ,;–-]*)\]/g;
const removeMarkers = (text: string): string => text.replace(marker, " ");

function listCited(text: string): readonly number[] {
  return [...text.matchAll(marker)].flatMap(([, numbers = ""]) => parseCitedNumbers(numbers) ?? []);
}

/** Removes fenced code, in which brackets are not citations. */
function splitParagraphs(text: string): readonly string[] {
  const parts = text.split(/^(?:```|~~~).*$/m);
  return parts.filter((_, index) => index % 2 === 0).flatMap((part) => part.split(/\n\s*\n/));
}

/** Splits at line ends and after punctuation. A citation after a full stop belongs to the sentence before it. */
function splitSentences(paragraph: string): readonly string[] {
  const sentences: string[] = [];
  for (const line of paragraph.split("\n"))
    for (const [index, part] of line.split(/(?<=[.!?。！？])\s+/u).entries()) {
      const [leading = ""] = (index > 0 && /^(?:\[\d[\d ,;–-]*\]\s*)+/.exec(part)) || [];
      if (leading) sentences.push(`${sentences.pop() ?? ""} ${leading}`);
      if (part.length > leading.length) sentences.push(part.slice(leading.length));
    }
  // The number of a list item is no claim.
  return sentences.map((sentence) => sentence.replace(/^\s*\d+[.)]\s/, ""));
}

/** Returns the numbers of a text, without separators of thousands and without leading zeros. */
function listNumbers(text: string): readonly string[] {
  const plain = text.replace(/(?<=\d)[.,'’\u00a0\u202f](?=\d{3}(?!\d))/gu, "");
  return (plain.match(/\d+(?:[.,]\d+)?/g) ?? []).map((number) =>
    number.replace(",", ".").replace(/^0+(?=\d)/, ""),
  );
}
