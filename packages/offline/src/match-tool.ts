import type { ToolSpec } from "capstan";
import { flagsIn } from "./flags.ts";
import { type Example, matchTemplate, type TemplateMatch } from "./match-template.ts";
import { pointedExample } from "./pointed-example.ts";
import { propertiesOf } from "./properties.ts";
import { asks, onlyTakesAway, takesAway } from "./taking-away.ts";
import { type ToolWords, type Vocabulary, vocabularyOf } from "./vocabulary.ts";
import { isDeed, isUndecided, wordScore } from "./word-score.ts";
import { type Word, wordsOf } from "./words.ts";

export type ToolMatch = {
  readonly tool: ToolSpec;
  readonly score: number;
  /** The example whose words the sentence has. */
  readonly example?: Example & TemplateMatch;
};

/** Below this a sentence is not about the tool. */
const threshold = 3;
/** A pasted page is judged by its beginning: matching gets dear with the length. */
const mostWords = 60;
const templateWorth = 10;

/** The tools, best first: by an example whose template fits, else by the words they share with the sentence. */
export function rankTools(sentence: readonly Word[], tools: readonly ToolSpec[]): ToolMatch[] {
  const words = sentence.slice(0, mostWords);
  const vocabulary = vocabularyOf(tools);
  return vocabulary.tools
    .map((tool) => matchTool(words, tool, vocabulary))
    .sort((left, right) => right.score - left.score || needsOf(left) - needsOf(right));
}

/** Of two that fit alike, the one that needs to be told less. */
const needsOf = ({ tool }: ToolMatch): number => propertiesOf(tool).filter(({ required }) => required).length;

/** The tool that a sentence is about, if any is. */
export function bestTool(words: readonly Word[], tools: readonly ToolSpec[]): ToolMatch | undefined {
  const [best] = rankTools(words, tools);
  return best && best.score >= threshold ? best : undefined;
}

/** The sentence is like an example, and not only because that takes any sentence. */
export const isSure = ({ example }: ToolMatch): boolean => (example?.said ?? 0) > 0;

function matchTool(words: readonly Word[], known: ToolWords, vocabulary: Vocabulary): ToolMatch {
  const { tool } = known;
  if (isUndecided(words, known.name)) return { tool, score: 0 };
  // What takes away is never done, by its words alone, by a tool that can also add.
  const score = takesAway(words) && !onlyTakesAway(known) ? 0 : wordScore(words, known, vocabulary);
  const example = flaggedExample(words, known) ?? pointedExample(words, known, vocabulary);
  if (!example) return { tool, score };
  // A template of nothing but a slot takes any sentence that no other tool wants.
  const worth =
    example.said > 0 ? templateWorth + 2 * example.closeness + score / 10 : Math.max(score, threshold);
  return { tool, example, score: worth };
}

/** As `bestExample`, with what is said in passing taken out of the sentence where that makes it closer. */
function flaggedExample(words: readonly Word[], known: ToolWords): (Example & TemplateMatch) | undefined {
  const { rest, flags } = flagsIn(words, known.properties);
  const plain = bestExample(words, known);
  const bare = rest.length < words.length ? bestExample(rest, known) : undefined;
  if (!bare || (plain && !isCloser(bare, plain))) return plain;
  return { ...bare, input: { ...bare.input, ...flags } };
}

/** The example with most of its own words in the sentence; of two, the one that leaves less to the slots. */
export function bestExample(
  sentence: readonly Word[],
  known: ToolWords,
): (Example & TemplateMatch) | undefined {
  const words = sentence.slice(0, mostWords);
  let best: (Example & TemplateMatch) | undefined;
  const isAsked = isDeed(known) && asks(words);
  const isTaking = takesAway(words);
  for (const candidate of known.examples) {
    // What changes something is not done for a question, unless that is how it is asked for.
    if (isAsked && !asks(wordsOf(candidate.phrase))) continue;
    if (isTaking && !candidate.isTaking) continue;
    const match = matchTemplate(candidate, words, candidate.rules);
    if (match && (!best || isCloser(match, best))) best = { ...candidate, ...match };
  }
  return best;
}

function isCloser(match: TemplateMatch, best: TemplateMatch): boolean {
  const left = ({ slots }: TemplateMatch) => [...slots.values()].join(" ").length;
  return match.closeness > best.closeness || (match.closeness === best.closeness && left(match) < left(best));
}
