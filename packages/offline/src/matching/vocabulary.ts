import type { ToolSpec } from "capstan";
import { createSlotRules } from "../language/read-value.ts";
import { isRemovalExample } from "../language/removal.ts";
import { computeSimilarity, fillers, getSynonyms, typoScore } from "../language/synonyms.ts";
import { tokenize, toNameStems } from "../language/words.ts";
import type { SlotRules } from "./match-template.ts";
import { type Example, parseExamples } from "./parse-examples.ts";
import { getProperties, type Property } from "./properties.ts";

/** A tool's words, grouped by how strongly they identify it. */
export type ToolWords = {
  readonly tool: ToolSpec;
  readonly name: readonly string[];
  readonly properties: readonly Property[];
  readonly examples: readonly (Example & { readonly rules: SlotRules; readonly isRemoval: boolean })[];
  /** Stems of its name: strong evidence. */
  readonly nameStems: ReadonlySet<string>;
  /** Stems of the values that its arguments accept. */
  readonly valueStems: ReadonlySet<string>;
  /** Stems of its description, its examples and the names of its arguments. */
  readonly topicStems: ReadonlySet<string>;
};

export type Vocabulary = {
  readonly tools: readonly ToolWords[];
  /** Number of tools with the stem in their name. */
  readonly nameCounts: ReadonlyMap<string, number>;
  /** The stems of all tools that are similar to this one, with their similarity. */
  readonly findSimilar: (stem: string) => ReadonlyMap<string, number>;
};

/** The built-in handoff tool. The target agent is chosen in `handoff.ts`. */
export const handoffName = "handoff";

const vocabularyCache = new WeakMap<readonly ToolSpec[], Vocabulary>();
const toolWordsCache = new WeakMap<ToolSpec, ToolWords>();

/** All tools' words. They are indexed by first letter so that many tools stay fast. */
export function getVocabulary(tools: readonly ToolSpec[]): Vocabulary {
  const known =
    vocabularyCache.get(tools) ?? buildVocabulary(tools.filter(({ name }) => name !== handoffName));
  vocabularyCache.set(tools, known);
  return known;
}

function buildVocabulary(tools: readonly ToolSpec[]): Vocabulary {
  const toolWords = tools.map((tool) => {
    const words = toolWordsCache.get(tool) ?? buildToolWords(tool);
    toolWordsCache.set(tool, words);
    return words;
  });
  const nameCounts = new Map<string, number>();
  for (const { nameStems } of toolWords)
    for (const stem of nameStems) nameCounts.set(stem, (nameCounts.get(stem) ?? 0) + 1);
  const index = buildStemIndex(toolWords);
  const similarCache = new Map<string, ReadonlyMap<string, number>>();
  const findSimilar = (stem: string) => {
    const found = similarCache.get(stem) ?? findSimilarStems(stem, index);
    similarCache.set(stem, found);
    return found;
  };
  return { tools: toolWords, nameCounts, findSimilar };
}

/** All stems, and all stems by first letter. */
type StemIndex = {
  readonly all: ReadonlySet<string>;
  readonly byLetter: ReadonlyMap<string, readonly string[]>;
};

function buildStemIndex(tools: readonly ToolWords[]): StemIndex {
  const all = new Set(
    tools.flatMap(({ nameStems, valueStems, topicStems }) => [...nameStems, ...valueStems, ...topicStems]),
  );
  return { all, byLetter: Map.groupBy(all, (stem) => stem.charAt(0)) };
}

function findSimilarStems(stem: string, { all, byLetter }: StemIndex): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const other of [...getSynonyms(stem), ...(byLetter.get(stem.charAt(0)) ?? [])]) {
    const similarity = all.has(other) ? computeSimilarity(stem, other) : 0;
    // An exact match is not a typo for another word.
    if (similarity > 0 && !(similarity === typoScore && all.has(stem))) found.set(other, similarity);
  }
  return found;
}

function buildToolWords(tool: ToolSpec): ToolWords {
  const properties = getProperties(tool);
  const name = toNameStems(tool.name);
  const examples = parseExamples(tool).map((example) => ({
    ...example,
    rules: createSlotRules(properties, example.input, name),
    isRemoval: isRemovalExample(example),
  }));
  const exampleStems = examples.flatMap(({ phrase }) =>
    extractTopicStems(phrase.replace(/\{[^}]*\}/gu, " ")),
  );
  return {
    tool,
    name,
    properties,
    examples,
    nameStems: new Set(name.filter((stem) => !fillers.has(stem))),
    valueStems: new Set(
      properties.flatMap(({ choices }) => choices.flatMap((choice) => toNameStems(String(choice)))),
    ),
    topicStems: new Set([
      ...extractTopicStems(tool.description),
      ...exampleStems,
      ...properties.flatMap((property) => toNameStems(property.name)),
    ]),
  };
}

const extractTopicStems = (text: string): string[] =>
  tokenize(text)
    .map(({ stem }) => stem)
    .filter((stem) => !fillers.has(stem));
