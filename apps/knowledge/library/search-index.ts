import type { DatabaseSync } from "node:sqlite";
import { getContentWords } from "./content-words.ts";
import { createCandidateFinder, quoteWord } from "./find-candidates.ts";
import { allSources } from "./find-documents.ts";
import type { Person } from "./package-facts.ts";
import { rankPassages } from "./rank-passages.ts";
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
  /** Opens the file at the passage, as the fragment of its URL. */
  readonly fragment?: string;
};

/** A passage that a search found. */
export type FoundPassage = Passage & {
  /** Share of the query that the passage covers, from 0 to 1. Rare words count more than common ones. */
  readonly relevance: number;
};

/** A passage and the source of its document. */
export type StoredPassage = Passage & { readonly source: string };

export type SearchOptions = {
  readonly limit: number;
  /** Defaults to all sources. */
  readonly sources?: readonly string[];
  /** Accepts passages with any word of the query. By default a passage must cover enough of it. */
  readonly isWide?: boolean;
};

export interface SearchIndex {
  /** Returns the passages that answer the query, best first. Words that no document contains also match as prefixes. */
  search(query: string, options: SearchOptions): readonly FoundPassage[];
  /** All passages of a document in order; empty if it does not exist. */
  getDocument(id: string, sources?: readonly string[]): readonly Passage[];
  listDocumentIds(): readonly string[];
  /** The first heading of each document that has one. */
  listHeadings(): readonly string[];
  /** All passages, in the order of the documents. */
  listPassages(): readonly StoredPassage[];
  searchPeople(query: string, limit: number): readonly Person[];
  /** Changes with every change of the index, also by another process. */
  getVersion(): string;
  close(): void;
}

export function createSearchIndex(database: DatabaseSync): SearchIndex {
  const findCandidates = createCandidateFinder(database);
  const columns =
    "document || '#' || anchor AS id, document, documents.title, heading, body AS text, place, url, fragment";
  const read = database.prepare(
    `SELECT ${columns} FROM passages JOIN documents ON documents.id = document WHERE passages.rowid = ?`,
  );
  const readAll = database.prepare(
    `SELECT ${columns} FROM documents JOIN passages ON passages.rowid BETWEEN first_row AND last_row ` +
      "WHERE documents.id = ? AND source IN (SELECT value FROM json_each(?)) ORDER BY passages.rowid",
  );
  const ids = database.prepare("SELECT id FROM documents WHERE first_row IS NOT NULL ORDER BY rowid");
  const headings = database.prepare(
    "SELECT heading FROM documents JOIN passages ON passages.rowid = first_row WHERE heading <> '' LIMIT 200",
  );
  const readEverything = database.prepare(
    `SELECT source, ${columns} FROM passages JOIN documents ON documents.id = document ORDER BY passages.rowid`,
  );
  const dataVersion = database.prepare("PRAGMA data_version");
  const totalChanges = database.prepare("SELECT total_changes() AS changes");
  const findPeople = database.prepare(
    "SELECT name, url, roles FROM people WHERE people MATCH ? ORDER BY bm25(people, 4, 1), rowid LIMIT 200",
  );

  return {
    search(query, { limit, sources = allSources, isWide = false }) {
      const words = getContentWords(query);
      if (words.length === 0) return [];
      const candidates = findCandidates(words, sources);
      return rankPassages(candidates, { words, isWide })
        .slice(0, limit)
        .map(({ row, relevance }) => ({ ...toPassage(read.get(row)), relevance }));
    },
    getDocument: (id, sources = allSources) => readAll.all(id, JSON.stringify(sources)).map(toPassage),
    listDocumentIds: () => ids.all().map(({ id }) => String(id)),
    listHeadings: () => headings.all().map(({ heading }) => String(heading)),
    listPassages: () =>
      readEverything.all().map((row) => ({ ...toPassage(row), source: String(row.source) })),
    searchPeople(query, limit) {
      const words = getContentWords(query);
      if (words.length === 0) return [];
      return rankPeople(findPeople.all(joinWithOr(words)).map(toPerson), words).slice(0, limit);
    },
    getVersion: () => `${dataVersion.get()?.data_version}-${totalChanges.get()?.changes}`,
    close: () => database.close(),
  };
}

const joinWithOr = (words: readonly string[]): string => words.map(quoteWord).join(" OR ");

type Row = { readonly [column: string]: unknown };

function toPerson({ name, url, roles }: Row): Person {
  return {
    name: String(name),
    ...(typeof url === "string" && { url }),
    packages: JSON.parse(String(roles)),
  };
}

function toPassage(row: Row | undefined): Passage {
  const { id, document, title, heading, text, place, url, fragment } = row ?? {};
  return {
    id: String(id),
    document: String(document),
    title: String(title),
    heading: String(heading),
    text: String(text),
    place: String(place),
    ...(typeof url === "string" && { url }),
    ...(typeof fragment === "string" && { fragment }),
  };
}
