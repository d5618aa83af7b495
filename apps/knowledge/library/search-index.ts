// A SQLite database with full-text search (FTS5, ranked by BM25):
//   passages   title, heading, body | document, anchor
//   documents  id, title, place, url, source
//   people     name, packages | url, roles
//   about      fingerprint of the documents

import type { DatabaseSync } from "node:sqlite";
import { getContentWords } from "./content-words.ts";
import { allSources } from "./find-documents.ts";
import type { Person } from "./package-facts.ts";
import { type Candidate, defaultMinShare, rankPassages } from "./rank-passages.ts";
import { rankPeople } from "./rank-people.ts";

export type Passage = {
  /** Document and section, so that the same passage always has the same id. */
  readonly id: string;
  readonly document: string;
  readonly title: string;
  readonly heading: string;
  readonly text: string;
  /** Location, for display. */
  readonly place: string;
  readonly url?: string;
};

/** A passage and the source of its document. */
export type StoredPassage = Passage & { readonly source: string };

export type SearchOptions = {
  readonly limit: number;
  /** Defaults to all sources. */
  readonly sources?: readonly string[];
  /** Minimum share of the query's words in a passage, exclusive. Defaults to 0.5. */
  readonly minShare?: number;
};

export interface SearchIndex {
  search(query: string, options: SearchOptions): readonly Passage[];
  /** All passages of a document in order; empty if it does not exist. */
  getDocument(id: string, sources?: readonly string[]): readonly Passage[];
  listDocumentIds(): readonly string[];
  /** All passages, in the order of the documents. */
  listPassages(): readonly StoredPassage[];
  searchPeople(query: string, limit: number): readonly Person[];
  close(): void;
}

const maxCandidates = 80;

export function createSearchIndex(database: DatabaseSync): SearchIndex {
  const find = database.prepare(
    "SELECT rowid AS row, document, heading || ' ' || body AS text, bm25(passages, 6, 4, 1) AS score FROM passages WHERE passages MATCH ? " +
      "AND document IN (SELECT id FROM documents WHERE source IN (SELECT value FROM json_each(?))) " +
      "ORDER BY score LIMIT ?",
  );
  const findRowsWithWord = database.prepare(
    "SELECT rowid AS row FROM passages WHERE passages MATCH ? AND rowid IN (SELECT value FROM json_each(?))",
  );
  const count = database.prepare("SELECT count(*) AS passages FROM passages WHERE passages MATCH ?");
  const columns =
    "document || '#' || anchor AS id, document, documents.title, heading, body AS text, place, url FROM passages " +
    "JOIN documents ON documents.id = document";
  const read = database.prepare(`SELECT ${columns} WHERE passages.rowid = ?`);
  const readAll = database.prepare(
    `SELECT ${columns} WHERE document = ? AND source IN (SELECT value FROM json_each(?)) ORDER BY passages.rowid`,
  );
  const ids = database.prepare("SELECT id FROM documents ORDER BY rowid");
  const readEverything = database.prepare(`SELECT source, ${columns} ORDER BY passages.rowid`);
  const findPeople = database.prepare(
    "SELECT name, url, roles FROM people WHERE people MATCH ? ORDER BY bm25(people, 4, 1), rowid LIMIT 200",
  );

  function findCandidates(words: readonly string[], sources: string): readonly Candidate[] {
    const found = find.all(joinWithOr(words), sources, maxCandidates).map(toMatch);
    const rows = JSON.stringify(found.map(({ row }) => row));
    const holders = words.map(
      (word) => new Set(findRowsWithWord.all(quoteWord(word), rows).map(({ row }) => row)),
    );
    const rarest = holders[words.indexOf(findRarest(words))];
    return found.map((candidate) => ({
      ...candidate,
      words: holders.filter((set) => set.has(candidate.row)).length,
      hasRarest: rarest?.has(candidate.row) ?? false,
    }));
  }

  /** Considers only words that occur at all; others may be typos. */
  function findRarest(words: readonly string[]): string {
    const wordCounts = words.map((word) => ({
      word,
      passages: Number(count.get(quoteWord(word))?.passages),
    }));
    const known = wordCounts.filter(({ passages }) => passages > 0);
    return known.toSorted((left, right) => left.passages - right.passages)[0]?.word ?? "";
  }

  return {
    search(query, { limit, sources = allSources, minShare = defaultMinShare }) {
      const words = getContentWords(query);
      if (words.length === 0) return [];
      const candidates = findCandidates(words, JSON.stringify(sources));
      return rankPassages(candidates, { words, minShare })
        .slice(0, limit)
        .map(({ row }) => toPassage(read.get(row)));
    },
    getDocument: (id, sources = allSources) => readAll.all(id, JSON.stringify(sources)).map(toPassage),
    listDocumentIds: () => ids.all().map(({ id }) => String(id)),
    listPassages: () =>
      readEverything.all().map((row) => ({ ...toPassage(row), source: String(row.source) })),
    searchPeople(query, limit) {
      const words = getContentWords(query);
      if (words.length === 0) return [];
      return rankPeople(findPeople.all(joinWithOr(words)).map(toPerson), words).slice(0, limit);
    },
    close: () => database.close(),
  };
}

/** Quotes protect words that are FTS5 syntax: `OR`, `NEAR(`, `title:`, `*`. */
const quoteWord = (word: string): string => `"${word.replaceAll('"', '""')}"`;
const joinWithOr = (words: readonly string[]): string => words.map(quoteWord).join(" OR ");

type Row = { readonly [column: string]: unknown };

function toMatch({ row, document, text, score }: Row): Omit<Candidate, "words" | "hasRarest"> {
  return { row: Number(row), document: String(document), text: String(text), score: Number(score) };
}

function toPerson({ name, url, roles }: Row): Person {
  return {
    name: String(name),
    ...(typeof url === "string" && { url }),
    packages: JSON.parse(String(roles)),
  };
}

function toPassage(row: Row | undefined): Passage {
  const { id, document, title, heading, text, place, url } = row ?? {};
  return {
    id: String(id),
    document: String(document),
    title: String(title),
    heading: String(heading),
    text: String(text),
    place: String(place),
    ...(typeof url === "string" && { url }),
  };
}
