import type { Scorer } from "./scorer.ts";

export type SupportedCitationsOptions = {
  /** The part of a sentence's words that its passages must contain. Default: 0.4. */
  readonly minOverlap?: number;
};

const marker = /\[(\d{1,6}(?:\s?[,;–-]\s?\d{1,6})*)\]/g;

/**
 * Checks the answer's citations: each `[n]` refers to a passage that a tool of this run found, and the passages of a
 * sentence contain its numbers and enough of its words. Does not apply if no tool found passages and nothing is cited.
 */
export function supportedCitations({ minOverlap = 0.4 }: SupportedCitationsOptions = {}): Scorer {
  return {
    name: "supportedCitations",
    score({ text, citations, fragments }) {
      const sentences = splitSentences(text).filter(({ numbers }) => numbers.length > 0);
      if (sentences.length === 0)
        return fragments.size === 0 ? undefined : { value: 0, reason: "the answer cites no passage" };
      const passages = new Map(citations.map(({ n, id }) => [n, fragments.get(id)?.content]));
      const problems = sentences.flatMap(({ words, numbers }) => {
        const missing = numbers.filter((n) => passages.get(n) === undefined);
        if (missing.length > 0) return [`[${missing.join(", ")}] refers to no passage of this run`];
        const cited = new Set(numbers.flatMap((n) => listSignificantWords(passages.get(n) ?? "")));
        const figure = words.find((word) => /\d/.test(word) && !cited.has(word));
        if (figure !== undefined) return [`"${figure}" is not in the passage [${numbers.join(", ")}]`];
        const found = words.filter((word) => cited.has(word)).length;
        if (words.length === 0 || found / words.length >= minOverlap) return [];
        return [`${found} of ${words.length} words are in the passage [${numbers.join(", ")}]`];
      });
      const value = 1 - problems.length / sentences.length;
      return problems.length === 0 ? true : { value, passed: false, reason: problems.join("; ") };
    },
  };
}

type CitedSentence = { readonly words: readonly string[]; readonly numbers: readonly number[] };

/** A marker may follow the full stop of its sentence. */
function splitSentences(text: string): readonly CitedSentence[] {
  const sentences = text.split(/(?<=[.!?…](?:\s?\[[\d,; –-]+\])*)\s+(?!\[)|\n+/);
  return sentences.map((sentence) => ({
    words: listSignificantWords(sentence.replace(marker, " ")),
    numbers: [...sentence.matchAll(marker)].flatMap(([, list = ""]) => list.split(/[,;–-]/).map(Number)),
  }));
}

/** Words of four letters or more, and numbers. */
function listSignificantWords(text: string): readonly string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+(?:[.,:]\p{N}+)*/gu) ?? [];
  return words.filter((word) => word.length > 3 || /\d/.test(word));
}
