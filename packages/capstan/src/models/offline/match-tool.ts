import type { ToolSpec } from "../../model.ts";
import { type Example, examplesOf, matchTemplate, type TemplateMatch } from "./match-template.ts";
import { propertiesOf } from "./properties.ts";
import { isAddress, isColour } from "./read-value.ts";
import { refersBack } from "./refer-back.ts";
import { fillers, isFiller, likeness, nameWords, type Word, wordsOf } from "./words.ts";

export type ToolMatch = {
  readonly tool: ToolSpec;
  readonly score: number;
  /** The example whose words the sentence has. */
  readonly example?: Example & TemplateMatch;
};

/** Below this a sentence is not about the tool. */
export const threshold = 3;
/** A pasted page is judged by its beginning: matching gets dear with the length. */
const mostWords = 60;
const templateWorth = 10;

/** The tools, best first: by an example whose template fits, else by the words they share with the sentence. */
export function rankTools(sentence: readonly Word[], tools: readonly ToolSpec[]): ToolMatch[] {
  const words = sentence.slice(0, mostWords);
  return tools.map((tool) => matchTool(words, tool, tools)).sort((left, right) => right.score - left.score);
}

/** The tool that a sentence is about, if any is. */
export function bestTool(words: readonly Word[], tools: readonly ToolSpec[]): ToolMatch | undefined {
  const [best] = rankTools(words, tools);
  return best && best.score >= threshold ? best : undefined;
}

function matchTool(words: readonly Word[], tool: ToolSpec, tools: readonly ToolSpec[]): ToolMatch {
  let example: (Example & TemplateMatch) | undefined;
  for (const candidate of examplesOf(tool)) {
    const match = matchTemplate(candidate.says, words);
    if (match && (!example || match.said > example.said)) example = { ...candidate, ...match };
  }
  const score = wordScore(words, tool, tools);
  // A template of nothing but a slot takes any sentence that no other tool wants.
  if (example)
    return {
      tool,
      example,
      score: example.said > 0 ? templateWorth + 2 * example.said + score / 10 : Math.max(score, threshold),
    };
  return { tool, score };
}

function wordScore(words: readonly Word[], tool: ToolSpec, tools: readonly ToolSpec[]): number {
  const name = nameWords(tool.name);
  const content = words.filter((word) => !isFiller(word));
  const best = (stem: string, stems: readonly string[]) =>
    stems.reduce((most, candidate) => Math.max(most, likeness(stem, candidate)), 0);
  const description = stemsIn(tool.description);
  const examples = examplesOf(tool).flatMap(({ says }) => stemsIn(says.replace(/\{[^}]*\}/gu, " ")));
  const properties = propertiesOf(tool);
  const propertyNames = properties.flatMap(({ name: property }) => nameWords(property));
  const values = properties.flatMap(({ choices }) => choices.flatMap((choice) => nameWords(String(choice))));
  const covered = name.filter((part) => words.some(({ stem }) => likeness(stem, part) > 0)).length;
  const takesColour = properties.some(({ name: property }) => /colou?r/iu.test(property));
  const takesPath = properties.some(({ name: property }) => /path|file|url/iu.test(property));
  const takesId = properties.some(
    ({ name: property, required }) => required && /(?:^i|I|_i)ds?$/u.test(property),
  );
  // "Show it", "make them blue": said of something that has an id.
  const pointing = covered > 0 && takesId && refersBack(words) ? 1 : 0;
  // Without a word of its name, the words of its description are a weak sign.
  const weak = covered > 0 ? 1 : 0.6;
  const hits = content.map(({ stem }) => {
    const sharers = tools.filter((other) => best(stem, nameWords(other.name)) > 0).length;
    return Math.max(
      (best(stem, name) * 3.2) / Math.sqrt(Math.max(1, sharers)),
      best(stem, values) * 3,
      best(stem, [...examples, ...description]) * weak,
      best(stem, propertyNames) * 0.8 * weak,
      (takesColour && isColour(stem)) || (takesPath && isAddress(stem)) ? 1.5 : 0,
    );
  });
  return hits.reduce((total, hit) => total + hit, 0) + (2 * covered) / Math.max(1, name.length) + pointing;
}

const stemsIn = (text: string): string[] =>
  wordsOf(text)
    .map(({ stem }) => stem)
    .filter((stem) => !fillers.has(stem));
