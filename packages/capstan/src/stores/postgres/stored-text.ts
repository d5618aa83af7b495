// Postgres takes neither the character 0 nor half a surrogate pair in a text. JSON escapes both, so whatever
// comes from outside is stored as it stands in JSON, ids without the quotes: most look as they did.
import { AgentError } from "../../errors.ts";
import type { Fact } from "../../event.ts";
import { wordsOf } from "../search-text.ts";

/** An id as it is stored: itself, unless it has characters that JSON escapes. */
export function storedText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** What `storedText` was given. */
export function originalText(stored: unknown): string {
  return originalJson(`"${stored}"`);
}

/** What was stored as JSON. When somebody has written something else there, it says so by name. */
export function originalJson<Value>(stored: unknown): Value {
  try {
    return JSON.parse(String(stored));
  } catch (cause) {
    const message =
      "The Postgres store holds a text that it did not write: restore its tables from a backup.";
    throw new AgentError("store_failed", message, { cause, retryable: false });
  }
}

/** A fact from its row. */
export function originalFact(body: unknown, seq: unknown): Fact {
  return { ...originalJson<Fact>(body), seq: Number(seq) };
}

const longestWord = 500; // Postgres takes 2046 bytes
const mostText = 20_000;
const mostWords = 100;
const mostPlaces = 255; // more of them Postgres forgets

/** The words of a text with their places, as a literal of tsvector: all stores are to know the same words. */
export function wordVector(text: string): string | undefined {
  const places = new Map<string, number[]>();
  for (const [index, word] of wordsOf(text.slice(0, mostText)).map(lexeme).entries()) {
    const known = places.get(word);
    if (!known) places.set(word, [index + 1]);
    else if (known.length < mostPlaces) known.push(index + 1);
  }
  const literal = [...places].map(([word, at]) => `'${word}':${at.join(",")}`).join(" ");
  return literal === "" ? undefined : literal;
}

/** The words of a question; of very many the first ones count. */
export function askedWords(text: string): string[] {
  return [...new Set(wordsOf(text))].slice(0, mostWords);
}

/** A question for all the words, as a literal of tsquery. */
export function wordQuery(words: readonly string[]): string {
  return words.map((word) => `'${lexeme(word)}'`).join(" & ");
}

// Letters and digits alone, so there is nothing to quote.
function lexeme(word: string): string {
  return word.slice(0, longestWord).toWellFormed();
}
