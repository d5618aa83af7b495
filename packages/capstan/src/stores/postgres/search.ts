import { buildExcerpt, scoreMatch, splitQuery } from "../../base/match-words.ts";
import { splitWords } from "../../base/words.ts";
import { type Fact, factVersion } from "../../kernel/event.ts";
import type { SearchHit, Store } from "../../runtime/store.ts";
import { toSearchText } from "../search-text.ts";
import { clampRowLimit } from "../store-rules.ts";
import type { Database, Statement } from "./database.ts";
import { isSession, scopeColumn } from "./migrations.ts";
import type { PostgresRow } from "./pool.ts";
import { toStoreError } from "./store-error.ts";
import { buildWordQuery, decodeFact, decodeText, encodeText } from "./stored-text.ts";

/** The newest sessions and facts that are compared directly, and the matches that are ranked. */
const maxRecentSessions = 200;
const maxRecentFacts = 50;
const minRankedRows = 200;
const maxRankedRows = 10_000;

export type Search = {
  readonly queryWords: readonly string[];
  readonly scope: string | undefined;
  readonly limit: number;
};

/**
 * Creates the search. It compares the newest facts first: a word that is frequent is found there often enough, and for
 * all others the index has few rows. So the cost does not depend on the number of matches.
 */
export function createSearch(database: Database, schema: string): Pick<Store, "search"> {
  return {
    async search(words, { scope, limit: maxHits = 50 } = {}) {
      const limit = clampRowLimit(maxHits);
      const search: Search = { queryWords: splitQuery(words), scope, limit };
      if (search.queryWords.length === 0) return [];
      return rankRows(await findMatches(database, schema, search), search);
    },
  };
}

/** Returns matching facts, at most twice as many as `limit`; if enough of them are among the newest facts, only those. */
export async function findMatches(
  database: Database,
  schema: string,
  search: Search,
): Promise<readonly PostgresRow[]> {
  const recent = await database.query("search", buildRecentQuery(schema, search));
  const found = recent.filter(({ seq }) => seq !== null);
  if (recent[0]?.is_complete === true || found.length >= search.limit) return found;
  return database.query("search", buildIndexQuery(schema, search));
}

/** Finds matches in the newest facts of the newest sessions, and tells whether these are all facts. */
function buildRecentQuery(schema: string, { queryWords, scope, limit }: Search): Statement {
  const scopeCondition = scope === undefined ? "TRUE" : `${scopeColumn} = $3`;
  const text = `WITH recent AS MATERIALIZED (SELECT id, facts, updated_at FROM ${schema}.sessions
      WHERE ${isSession} AND ${scopeCondition} ORDER BY updated_at DESC, id LIMIT ${maxRecentSessions}),
    extent AS (SELECT count(*) < ${maxRecentSessions} AND coalesce(max(facts), 0) <= ${maxRecentFacts} AS is_complete
      FROM recent)
    SELECT is_complete, found.* FROM extent LEFT JOIN (
      SELECT session_id, seq, version, body FROM recent CROSS JOIN LATERAL (SELECT * FROM ${schema}.facts
        WHERE session_id = recent.id AND seq > recent.facts - ${maxRecentFacts}) AS fact
      WHERE words @@ $1::tsquery AND version <= ${factVersion} ORDER BY updated_at DESC, seq DESC LIMIT $2) AS found ON true`;
  const values = [buildWordQuery(queryWords), limitRanked(limit)];
  return { text, values: scope === undefined ? values : [...values, encodeText(scope)] };
}

function buildIndexQuery(schema: string, { queryWords, scope, limit }: Search): Statement {
  const query = "$1::tsquery";
  const scopedQuery = scope === undefined ? query : `(${query} && ${schema}.to_scope_word($3)::tsquery)`;
  const text = `SELECT session_id, seq, version, body FROM ${schema}.facts WHERE words @@ ${scopedQuery} AND version <= ${factVersion}
    ORDER BY ts_rank(words, ${query}, 1) DESC, session_id, seq LIMIT $2`;
  const values = [buildWordQuery(queryWords), limitRanked(limit)];
  return { text, values: scope === undefined ? values : [...values, encodeText(scope)] };
}

const limitRanked = (limit: number): number => Math.min(Math.max(2 * limit, minRankedRows), maxRankedRows);

function rankRows(rows: readonly PostgresRow[], { queryWords, limit }: Search): SearchHit[] {
  try {
    return rows
      .map((row) => toMatch(decodeText(row.session_id), decodeFact(row), queryWords))
      .sort((left, right) => right.score - left.score)
      .slice(0, limit)
      .map(({ sessionId, seq, text }) => ({ sessionId, seq, excerpt: buildExcerpt(text, queryWords) }));
  } catch (error) {
    throw toStoreError("read a search result", error); // a row was not written by this store
  }
}

type Match = Pick<SearchHit, "sessionId" | "seq"> & { readonly text: string; readonly score: number };

function toMatch(sessionId: string, fact: Fact, queryWords: readonly string[]): Match {
  const text = toSearchText(fact);
  return { sessionId, seq: fact.seq, text, score: scoreMatch(splitWords(text), queryWords) };
}
