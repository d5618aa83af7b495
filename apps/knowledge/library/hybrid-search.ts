import { fuseRankings } from "./fuse-rankings.ts";
import type { Library } from "./library.ts";
import type { FoundPassage, SearchIndex } from "./search-index.ts";
import type { SemanticQuery } from "./semantic-search.ts";

export type HybridResult = {
  readonly index: SearchIndex;
  readonly passages: readonly FoundPassage[];
  /** Why the search was not complete. */
  readonly note?: string;
};

/** Candidates of each search: a passage that both rank in the middle can win. */
const candidatesPerSearch = 20;

/** Searches by words and, if the library has an embedding model, by meaning. A failing model costs only its part. */
export async function searchHybrid(library: Library, request: SemanticQuery): Promise<HybridResult> {
  const { query, limit, sources, progress, signal } = request;
  const index = await library.open(progress);
  const restricted = sources && { sources };
  if (!library.semantic) return { index, passages: index.search(query, { limit, ...restricted }) };
  const byWords = index.search(query, { limit: Math.max(limit, candidatesPerSearch), ...restricted });
  try {
    const wanted = { ...request, limit: candidatesPerSearch };
    const byMeaning = await library.semantic.search(index, wanted);
    return { index, passages: fuseRankings([byWords, byMeaning], ({ id }) => id).slice(0, limit) };
  } catch (error) {
    if (signal?.aborted) throw error;
    const note = `Searched by words only, because the search by meaning failed: ${error instanceof Error ? error.message : error}`;
    return { index, passages: byWords.slice(0, limit), note };
  }
}
