import type { DatabaseSync } from "node:sqlite";
import type { Candidate } from "./rank-passages.ts";

const maxCandidates = 80;
/** Shorter prefixes match too much. */
const minPrefixLength = 3;

/** Finds passages with any of the words, and how much of the query each of them covers. */
export function createCandidateFinder(
  database: DatabaseSync,
): (words: readonly string[], sources: readonly string[]) => readonly Candidate[] {
  const find = database.prepare(
    "SELECT rowid AS row, document, heading || ' ' || body AS text, bm25(passages, 6, 4, 1) AS score FROM passages WHERE passages MATCH ? " +
      "AND document IN (SELECT id FROM documents WHERE source IN (SELECT value FROM json_each(?))) " +
      "ORDER BY score LIMIT ?",
  );
  const findRowsWithTerm = database.prepare(
    "SELECT rowid AS row FROM passages WHERE passages MATCH ? AND rowid IN (SELECT value FROM json_each(?))",
  );
  const count = database.prepare("SELECT count(*) AS passages FROM passages WHERE passages MATCH ?");
  const countAll = database.prepare("SELECT sum(last_row - first_row + 1) AS passages FROM documents");
  const countPassages = (term: string) => Number(count.get(term)?.passages);

  /** A word that no document contains matches as a prefix: "hote" finds hotels. */
  function toTerm(word: string): Term {
    const [exact, prefix] = [quoteWord(word), `${quoteWord(word)}*`];
    const exactCount = countPassages(exact);
    if (exactCount > 0 || word.length < minPrefixLength) return { match: exact, passages: exactCount };
    return { match: prefix, passages: countPassages(prefix) };
  }

  return (words, sources) => {
    const total = Number(countAll.get()?.passages);
    const terms = words.map(toTerm);
    // A word that occurs nowhere counts as much as the rarest one that could be found.
    const weights = terms.map(({ passages }) => Math.log(1 + total / Math.max(passages, 1)));
    const found = find
      .all(terms.map(({ match }) => match).join(" OR "), JSON.stringify(sources), maxCandidates)
      .map(toMatch);
    const rows = JSON.stringify(found.map(({ row }) => row));
    const holders = terms.map(
      ({ match }) => new Set(findRowsWithTerm.all(match, rows).map(({ row }) => row)),
    );
    return found.map((candidate) => {
      const matches = weights.filter((_, index) => holders[index]?.has(candidate.row));
      return { ...candidate, words: matches.length, relevance: sum(matches) / sum(weights) };
    });
  };
}

/** Quotes protect words that are FTS5 syntax: `OR`, `NEAR(`, `title:`, `*`. */
export const quoteWord = (word: string): string => `"${word.replaceAll('"', '""')}"`;

type Term = { readonly match: string; readonly passages: number };

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

type Row = { readonly [column: string]: unknown };

function toMatch({ row, document, text, score }: Row): Omit<Candidate, "words" | "relevance"> {
  return { row: Number(row), document: String(document), text: String(text), score: Number(score) };
}
