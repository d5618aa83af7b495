// Postgres text cannot contain NUL or lone surrogates. JSON escapes both, so free text is stored as JSON; ids are stored
// without the quotes, so that most look unchanged.
import { AgentError } from "../../base/errors.ts";
import { splitWords } from "../../base/words.ts";
import type { Fact } from "../../kernel/event.ts";
import { assertKnownVersion } from "../store-rules.ts";
import type { PostgresRow } from "./pool.ts";

/** Encodes an id: unchanged, unless it has characters that JSON escapes. */
export function encodeText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Decodes a text from `encodeText`. */
export function decodeText(stored: unknown): string {
  return decodeJson(`"${stored}"`);
}

/** Parses stored JSON. Throws `store_failed` if the text was not written by this store. */
export function decodeJson<Value>(stored: unknown): Value {
  try {
    return JSON.parse(String(stored));
  } catch (cause) {
    const message =
      "The Postgres store contains text that it did not write. Restore its tables from a backup.";
    throw new AgentError("store_failed", message, { cause, retryable: false });
  }
}

/** Decodes the fact of a row. Throws `newer_version`. */
export function decodeFact({ body, seq, version }: PostgresRow): Fact {
  assertKnownVersion(Number(version ?? 0));
  return { ...decodeJson<Fact>(body), seq: Number(seq) };
}

const maxPositions = 255; // Postgres ignores further positions

/** Builds a tsvector literal from `splitWords`, so that all stores index the same words. */
export function buildWordVector(text: string): string | undefined {
  const positions = new Map<string, number[]>();
  for (const [index, word] of splitWords(text).entries()) {
    const known = positions.get(word);
    if (!known) positions.set(word, [index + 1]);
    else if (known.length < maxPositions) known.push(index + 1);
  }
  const literal = [...positions]
    .map(([word, positionList]) => `'${word}':${positionList.join(",")}`)
    .join(" ");
  return literal === "" ? undefined : literal;
}

/** Builds a tsquery literal that requires, for each query word, a word that starts with it. */
export function buildWordQuery(queryWords: readonly string[]): string {
  return queryWords.map((word) => `'${word}':*`).join(" & "); // letters, digits and marks need no quoting
}
