// Ranks tools by a query: BM25 over their names, descriptions, examples and parameters. A word counts more if few tools
// have it, and if it is in the name.
import { isRecord } from "../../base/json.ts";
import { createLazyPattern } from "../../base/lazy.ts";
import { splitTerms } from "../../base/terms.ts";
import type { ToolSpec } from "../../kernel/model.ts";
import type { ExamplesByTool, ToolExample } from "../../kernel/tool-examples.ts";

/** Finds the tools that fit a query, the best first. It omits tools that share no word with it. */
export type ToolIndex = { rank(query: string): readonly ToolSpec[] };

/** The weight of each term of a tool, and their sum. */
type IndexedTool = {
  readonly spec: ToolSpec;
  readonly weights: ReadonlyMap<string, number>;
  readonly length: number;
};

const fieldWeights = { name: 3, description: 2, examples: 1, parameters: 0.5 };
/** The usual constants of BM25: how fast repetitions stop counting, and how much long texts lose. */
const saturation = 1.2;
const lengthPenalty = 0.5;

export function createToolIndex(specs: readonly ToolSpec[], examples: ExamplesByTool = {}): ToolIndex {
  const indexed = specs.map((spec) => indexTool(spec, examples[spec.name]));
  const meanLength = indexed.reduce((sum, { length }) => sum + length, 0) / Math.max(1, indexed.length);
  const toolCounts = new Map<string, number>();
  for (const { weights } of indexed)
    for (const term of weights.keys()) toolCounts.set(term, (toolCounts.get(term) ?? 0) + 1);
  const computeRarity = (term: string) => {
    const count = toolCounts.get(term) ?? 0;
    return Math.log(1 + (indexed.length - count + 0.5) / (count + 0.5));
  };
  return {
    rank(query) {
      const terms = [...new Set(listRoots(query))].map((term) => ({ term, rarity: computeRarity(term) }));
      const score = ({ weights, length }: IndexedTool) => {
        const damping = saturation * (1 - lengthPenalty + lengthPenalty * (length / meanLength));
        return terms.reduce((sum, { term, rarity }) => {
          const weight = weights.get(term) ?? 0;
          return sum + (rarity * weight * (saturation + 1)) / (weight + damping);
        }, 0);
      };
      return indexed
        .map((tool) => ({ spec: tool.spec, score: score(tool) }))
        .filter((ranked) => ranked.score > 0)
        .sort((left, right) => right.score - left.score)
        .map(({ spec }) => spec);
    },
  };
}

function indexTool(spec: ToolSpec, examples: readonly ToolExample[] = []): IndexedTool {
  const weights = new Map<string, number>();
  for (const [field, text] of Object.entries(readSpecTexts(spec, examples))) {
    const weight = fieldWeights[field as keyof typeof fieldWeights];
    for (const term of listRoots(text)) weights.set(term, (weights.get(term) ?? 0) + weight);
  }
  return { spec, weights, length: [...weights.values()].reduce((sum, weight) => sum + weight, 0) };
}

function readSpecTexts(
  { name, description, input }: ToolSpec,
  examples: readonly ToolExample[],
): Record<keyof typeof fieldWeights, string> {
  const { properties } = input as { readonly properties?: unknown };
  return {
    name,
    description,
    examples: examples.map(({ phrase }) => phrase).join("\n"),
    parameters: isRecord(properties) ? Object.keys(properties).join(" ") : "",
  };
}

const getWordBoundary = createLazyPattern(() => String.raw`([\p{Ll}\p{N}])(\p{Lu})`, "gu");

/** Returns the content words of a text by their roots. The parts of `sendLetter` and `send_letter` are words. */
function listRoots(text: string): readonly string[] {
  const { words, pairs } = splitTerms(text.replace(getWordBoundary(), "$1 $2"));
  return [...words.map(removeEnding), ...pairs];
}

const ending = /(?<=.{3})(?:ations?|ements?|ments?|ings?|ions?|ie[sd]|ed|es|e|y|(?<!s)s)$/u;

/** Removes an English ending, so that "invoices", "invoicing" and "invoice" are one word, and so are "stop" and "stopped". */
function removeEnding(word: string): string {
  return word.replace(ending, "").replace(/([^aeious])\1$/u, "$1");
}
