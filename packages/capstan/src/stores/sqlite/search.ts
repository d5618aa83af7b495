// A row of `search` holds the text of the fact with the same number, preceded by a word for the scope of its session.

import { buildExcerpt, scoreMatch, splitQuery } from "../../base/match-words.ts";
import { splitWords } from "../../base/words.ts";
import { factVersion, type UnplacedFact } from "../../kernel/event.ts";
import { getScope } from "../../kernel/session-id.ts";
import type { SearchHit, SearchOptions, Store } from "../../runtime/store.ts";
import { toSearchText } from "../search-text.ts";
import { clampRowLimit } from "../store-rules.ts";
import type { Connection } from "./connection.ts";
import { type FactRow, parseFact } from "./stored-fact.ts";
import { fromStoredText } from "./stored-text.ts";
import type { WorkQueue } from "./work-queue.ts";

type IndexedRow = { readonly rowid: number; readonly words: string };
type FoundRow = FactRow & { readonly id: string };

/** Number of the newest rows that are compared directly, and of the matches that are ranked. */
const maxRecentRows = 1_000;
const minRankedRows = 200;

/** Adds a fact to the index. Its number may have belonged to a fact that an earlier version of this program deleted. */
export function indexFact(connection: Connection, number: number, fact: UnplacedFact): void {
  const words = toWords(fact);
  connection.run("DELETE FROM search WHERE rowid = ?", number);
  if (words) connection.run("INSERT INTO search (rowid, words) VALUES (?, ?)", number, words);
}

/** Creates the search. */
export function createSearch(
  connection: Connection,
  { read }: WorkQueue,
  completeDerived: () => Promise<void>,
): Pick<Store, "search"> {
  return {
    async search(text, options) {
      const queryWords = splitQuery(text);
      if (queryWords.length === 0) return [];
      await completeDerived();
      return read(() => searchFacts(connection, queryWords, options));
    },
  };
}

function toWords(fact: UnplacedFact): string {
  const words = splitWords(toSearchText(fact));
  return words.length === 0 ? "" : [toScopeWord(getScope(fact.sessionId)), ...words].join(" ");
}

/** Private-use characters are in no word of a text. */
function toScopeWord(scope: string): string {
  return `\ue000${Buffer.from(scope, "utf16le").toString("hex")}`;
}

/**
 * Compares the newest rows first. A word that is frequent is found there often enough; for all others, the index has
 * few rows. So the cost does not depend on the number of matches.
 */
function searchFacts(
  connection: Connection,
  queryWords: readonly string[],
  { scope, limit = 50 }: SearchOptions = {},
): SearchHit[] {
  const maxHits = clampRowLimit(limit);
  const rankedLimit = Math.max(2 * maxHits, minRankedRows);
  const rows = findNewestRows(connection, queryWords, { scope, enough: maxHits, limit: rankedLimit });
  const ranked = rankRows(rows, queryWords);
  return ranked.slice(0, maxHits).flatMap(({ rowid }) => loadHit(connection, rowid, queryWords));
}

type RowLimits = { readonly scope: string | undefined; readonly enough: number; readonly limit: number };

/** Returns up to `limit` matching rows, newest first; if `enough` are among the newest of all, only those. */
export function findNewestRows(
  connection: Connection,
  queryWords: readonly string[],
  { scope, enough, limit }: RowLimits,
): IndexedRow[] {
  const scopeWord = scope === undefined ? [] : [`"${toScopeWord(scope)}"`];
  const recentRows = listRows(connection, scopeWord, maxRecentRows);
  // Words are separated by spaces, and the first one is the scope.
  const rows = recentRows.filter(({ words }) => queryWords.every((word) => words.includes(` ${word}`)));
  if (rows.length >= enough || recentRows.length < maxRecentRows) return rows.slice(0, limit);
  return listRows(connection, [...scopeWord, ...queryWords.map((word) => `"${word}"*`)], limit);
}

/** Returns the newest rows that match all terms. */
function listRows(connection: Connection, terms: readonly string[], limit: number): IndexedRow[] {
  const sql = (condition: string) => `SELECT search.rowid, words FROM search
    CROSS JOIN facts ON facts.number = search.rowid
    WHERE ${condition} AND version <= ${factVersion} AND facts.session NOT IN (SELECT session FROM hidden_sessions)
    ORDER BY search.rowid DESC LIMIT ?`;
  if (terms.length === 0) return connection.all(sql("TRUE"), limit);
  return connection.all(sql("search MATCH ?"), terms.join(" "), limit);
}

function rankRows(
  rows: readonly IndexedRow[],
  queryWords: readonly string[],
): { readonly rowid: number; readonly score: number }[] {
  return rows
    .map(({ rowid, words }) => ({ rowid, score: scoreMatch(words.split(" ").slice(1), queryWords) }))
    .sort((left, right) => right.score - left.score);
}

function loadHit(connection: Connection, number: number, queryWords: readonly string[]): SearchHit[] {
  const sql = `SELECT sessions.id, seq, version, fact FROM facts JOIN sessions ON sessions.number = session
    WHERE facts.number = ?`;
  const row = connection.get<FoundRow>(sql, number);
  if (!row) return [];
  const excerpt = buildExcerpt(toSearchText(parseFact(row)), queryWords);
  return [{ sessionId: fromStoredText(row.id), seq: row.seq, excerpt }];
}
