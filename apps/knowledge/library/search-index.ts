// A SQLite database with full-text search (FTS5, ranked by BM25):
//   passages   title, heading, body | document, anchor
//   documents  id, title, place, url, source
//   people     name, packages | url, roles
//   about      what it was made of

import type { DatabaseSync } from "node:sqlite";
import { contentWords } from "./content-words.ts";
import { allSources } from "./find-documents.ts";
import type { Person } from "./package-facts.ts";
import { type Candidate, ranked, usualShare } from "./rank-passages.ts";
import { nearestPeople } from "./rank-people.ts";

/** A passage as it is found and cited. */
export type Passage = {
  /** Of the document and the section: what is the same passage has the same id. */
  readonly id: string;
  readonly document: string;
  readonly title: string;
  readonly heading: string;
  readonly text: string;
  /** Where it is, for people. */
  readonly place: string;
  readonly url?: string;
};

export type SearchOptions = {
  readonly limit: number;
  /** Left out: all there are. */
  readonly sources?: readonly string[];
  /** A passage must have more than this share of the words; by default half. */
  readonly moreThan?: number;
};

export interface SearchIndex {
  search(query: string, options: SearchOptions): readonly Passage[];
  /** All passages of a document, in order; none when there is no such document. */
  document(id: string, sources?: readonly string[]): readonly Passage[];
  documentIds(): readonly string[];
  people(query: string, limit: number): readonly Person[];
  close(): void;
}

const mostCandidates = 80;

export function searchIndex(database: DatabaseSync): SearchIndex {
  const find = database.prepare(
    "SELECT rowid AS row, document, heading || ' ' || body AS text, bm25(passages, 6, 4, 1) AS score FROM passages WHERE passages MATCH ? " +
      "AND document IN (SELECT id FROM documents WHERE source IN (SELECT value FROM json_each(?))) " +
      "ORDER BY score LIMIT ?",
  );
  const having = database.prepare(
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
  const findPeople = database.prepare(
    "SELECT name, url, roles FROM people WHERE people MATCH ? ORDER BY bm25(people, 4, 1), rowid LIMIT 200",
  );

  function candidatesFor(words: readonly string[], sources: string): readonly Candidate[] {
    const found = find.all(anyOf(words), sources, mostCandidates) as Omit<Candidate, "words" | "hasRarest">[];
    const rows = JSON.stringify(found.map(({ row }) => row));
    const holders = words.map((word) => new Set(having.all(quoted(word), rows).map(({ row }) => row)));
    const rarest = holders[words.indexOf(rarestOf(words))];
    return found.map((one) => ({
      ...one,
      words: holders.filter((set) => set.has(one.row)).length,
      hasRarest: rarest?.has(one.row) ?? false,
    }));
  }

  /** Of the words that are there at all: one that is nowhere may be a slip of the pen. */
  function rarestOf(words: readonly string[]): string {
    const counted = words.map((word) => ({ word, passages: Number(count.get(quoted(word))?.passages) }));
    const known = counted.filter(({ passages }) => passages > 0);
    return known.toSorted((left, right) => left.passages - right.passages)[0]?.word ?? "";
  }

  return {
    search(query, { limit, sources = allSources, moreThan = usualShare }) {
      const words = contentWords(query);
      if (words.length === 0) return [];
      const candidates = candidatesFor(words, JSON.stringify(sources));
      return ranked(candidates, { words, moreThan })
        .slice(0, limit)
        .map(({ row }) => passageOf(read.get(row)));
    },
    document: (id, sources = allSources) => readAll.all(id, JSON.stringify(sources)).map(passageOf),
    documentIds: () => ids.all().map(({ id }) => String(id)),
    people(query, limit) {
      const words = contentWords(query);
      if (words.length === 0) return [];
      return nearestPeople(findPeople.all(anyOf(words)).map(personOf), words).slice(0, limit);
    },
    close: () => database.close(),
  };
}

/** In quotes a word is a word, whatever it means to FTS5: `OR`, `NEAR(`, `title:`, `*`. */
const quoted = (word: string): string => `"${word.replaceAll('"', '""')}"`;
const anyOf = (words: readonly string[]): string => words.map(quoted).join(" OR ");

type Row = { readonly [column: string]: unknown };

function personOf({ name, url, roles }: Row): Person {
  return {
    name: String(name),
    ...(typeof url === "string" && { url }),
    packages: JSON.parse(String(roles)) as Person["packages"],
  };
}

function passageOf(row: Row | undefined): Passage {
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
