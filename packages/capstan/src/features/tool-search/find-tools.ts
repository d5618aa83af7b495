import type { EmbedTools, ToolSpec, Vector } from "../../kernel/model.ts";
import type { ExamplesByTool } from "../../kernel/tool-examples.ts";
import { createToolIndex } from "./rank-tools.ts";

/** Finds the tools for a query, the best first. */
export type FindTools = (query: string, signal: AbortSignal) => Promise<readonly ToolSpec[]>;

type FinderOptions = {
  readonly embedTools: EmbedTools | undefined;
  readonly examples: ExamplesByTool | undefined;
};

/** Searches by words and, if texts can be embedded, by meaning. */
export function createFinder(specs: readonly ToolSpec[], { embedTools, examples }: FinderOptions): FindTools {
  const index = createToolIndex(specs, examples);
  const rankByMeaning = embedTools && createVectorRanking(specs, embedTools);
  return async (query, signal) => {
    const byWords = index.rank(query);
    const byMeaning = await rankByMeaning?.(query, signal);
    return byMeaning ? joinRankings([byWords, byMeaning]) : byWords;
  };
}

/** Ranks by the similarity of vectors. Undefined if the texts cannot be embedded: the words alone decide then. */
function createVectorRanking(specs: readonly ToolSpec[], embed: EmbedTools) {
  let vectors: Promise<readonly Vector[]> | undefined;
  return async (query: string, signal: AbortSignal): Promise<readonly ToolSpec[] | undefined> => {
    try {
      vectors ??= embed(
        specs.map(({ name, description }) => `${name.replaceAll(/[_-]/g, " ")}: ${description}`),
        { signal },
      );
      const [known, [wanted]] = await Promise.all([vectors, embed([query], { signal })]);
      if (!wanted || known.length !== specs.length) return undefined;
      const similarities = known.map((vector) => computeCosine(vector, wanted));
      return [...specs.keys()]
        .sort((left, right) => (similarities[right] ?? 0) - (similarities[left] ?? 0))
        .flatMap((index) => specs[index] ?? []);
    } catch {
      vectors = undefined; // the next search tries again
      return undefined;
    }
  };
}

function computeCosine(left: Vector, right: Vector): number {
  const multiply = (one: Vector, other: Vector) =>
    one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);
  return multiply(left, right) / (Math.sqrt(multiply(left, left) * multiply(right, right)) || 1);
}

/** The usual constant of reciprocal rank fusion: how much a first place counts more than a second one. */
const rankOffset = 60;

/** Joins rankings by reciprocal rank fusion, which needs no common scale of their scores. */
function joinRankings(rankings: readonly (readonly ToolSpec[])[]): readonly ToolSpec[] {
  const scores = new Map<ToolSpec, number>();
  for (const ranking of rankings)
    for (const [rank, spec] of ranking.entries())
      scores.set(spec, (scores.get(spec) ?? 0) + 1 / (rankOffset + rank));
  return [...scores].sort(([, left], [, right]) => right - left).map(([spec]) => spec);
}
