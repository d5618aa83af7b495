import type { Model } from "capstan";
import { embed, type Vector, type VectorCache } from "capstan/models";
import { allSources } from "./find-documents.ts";
import type { Progress } from "./library.ts";
import type { FoundPassage, SearchIndex, StoredPassage } from "./search-index.ts";

export type SemanticSearchOptions = {
  /** Embeds the passages and the queries. */
  readonly model: Model | string;
  /** Where the vectors are stored. Defaults to memory. */
  readonly cache?: VectorCache;
};

export type SemanticQuery = {
  readonly query: string;
  readonly limit: number;
  readonly sources?: readonly string[];
  readonly progress: Progress;
  readonly signal?: AbortSignal;
};

export interface SemanticSearch {
  /** Returns passages that mean something similar, best first. Rejects if the model fails. */
  search(index: SearchIndex, query: SemanticQuery): Promise<readonly FoundPassage[]>;
}

type EmbeddedPassage = { readonly passage: StoredPassage; readonly vector: Vector };
type EmbeddedIndex = { readonly version: string; readonly passages: Promise<readonly EmbeddedPassage[]> };

/** Bounds the cost of the first search. */
const maxPassages = 5000;
const maxTextLength = 2000;
const passagesPerStep = 512;
/** After a failure, searches do not wait for the provider for this long. */
const pauseMs = 60_000;

/** Passages are embedded by the first search, and changed ones by the first search after the change. */
export function createSemanticSearch({ model, cache }: SemanticSearchOptions): SemanticSearch {
  const shared = cache && { cache };
  const embeddedIndexes = new WeakMap<SearchIndex, EmbeddedIndex>();
  let pause: { readonly until: number; readonly error: unknown } | undefined;

  async function embedPassages(index: SearchIndex, progress: Progress): Promise<readonly EmbeddedPassage[]> {
    const stored = index.listPassages().slice(0, maxPassages);
    const embedded: EmbeddedPassage[] = [];
    for (let start = 0; start < stored.length; start += passagesPerStep) {
      progress(`Embedding: ${start} of ${stored.length} passages`);
      const step = stored.slice(start, start + passagesPerStep);
      const { vectors } = await embed(model, step.map(toText), { kind: "document", ...shared });
      for (const [offset, passage] of step.entries())
        embedded.push({ passage, vector: normalize(vectors[offset] ?? []) });
    }
    return embedded;
  }

  function getPassages(index: SearchIndex, progress: Progress): Promise<readonly EmbeddedPassage[]> {
    const version = index.getVersion();
    const known = embeddedIndexes.get(index);
    if (known?.version === version) return known.passages;
    const passages = embedPassages(index, progress);
    embeddedIndexes.set(index, { version, passages });
    return passages;
  }

  return {
    async search(index, { query, limit, sources = allSources, progress, signal }) {
      if (pause && Date.now() < pause.until) throw pause.error;
      try {
        const embedded = await getPassages(index, progress);
        const { vectors } = await embed(model, [query], { kind: "query", ...(signal && { signal }) });
        const vector = normalize(vectors[0] ?? []);
        return rankSimilar(embedded, vector)
          .filter(({ source }) => sources.includes(source))
          .slice(0, limit);
      } catch (error) {
        embeddedIndexes.delete(index); // finished steps are in the cache
        if (!signal?.aborted) pause = { until: Date.now() + pauseMs, error };
        throw error;
      }
    },
  };
}

const toText = ({ title, heading, text }: StoredPassage): string =>
  `${title}: ${heading}\n${text}`.slice(0, maxTextLength).toWellFormed();

/** With fewer passages, the spread of the similarities says nothing. */
const minSample = 20;
const minSimilarity = 0.3;
const minDeviations = 2;

/**
 * Returns the passages that are clearly more similar to the query than the others. Models differ in how similar
 * unrelated texts are, so that a fixed limit serves only small libraries.
 */
function rankSimilar(
  embedded: readonly EmbeddedPassage[],
  query: Vector,
): readonly (StoredPassage & FoundPassage)[] {
  const ranked = embedded
    .map(({ passage, vector }) => ({ passage, similarity: computeDot(vector, query) }))
    .toSorted((left, right) => right.similarity - left.similarity);
  const { mean, deviation } = measureSpread(ranked.map(({ similarity }) => similarity));
  const least = ranked.length < minSample ? minSimilarity : mean + minDeviations * deviation;
  return ranked
    .filter(({ similarity }) => similarity >= least)
    .map(({ passage, similarity }) => ({ ...passage, relevance: Math.min(1, similarity) }));
}

function measureSpread(values: readonly number[]): { readonly mean: number; readonly deviation: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return { mean, deviation: Math.sqrt(variance) };
}

function normalize(vector: Vector): Vector {
  const length = Math.sqrt(computeDot(vector, vector)) || 1;
  return vector.map((value) => value / length);
}

function computeDot(left: Vector, right: Vector): number {
  let sum = 0;
  for (let index = 0; index < left.length; index++) sum += (left[index] ?? 0) * (right[index] ?? 0);
  return sum;
}
