import type { ToolSpec } from "../../model.ts";
import { flagsIn } from "./flags.ts";
import { type Example, matchTemplate, type TemplateMatch } from "./match-template.ts";
import { fillers, isFiller, synonym, verbs } from "./meanings.ts";
import { propertiesOf } from "./properties.ts";
import { isAddress, isColour, slotRules } from "./read-value.ts";
import { onlyPoints, refersBack } from "./refer-back.ts";
import { type ToolWords, type Vocabulary, vocabularyOf } from "./vocabulary.ts";
import { isQuoted, type Word, wordsOf } from "./words.ts";

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
  const score = wordScore(words, known, vocabulary);
  const example = flaggedExample(words, known);
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
  { examples, properties, name }: ToolWords,
): (Example & TemplateMatch) | undefined {
  const words = sentence.slice(0, mostWords);
  let best: (Example & TemplateMatch) | undefined;
  const isAsked = isDeed(name) && questions.has(words[0]?.stem ?? "");
  for (const candidate of examples) {
    // What changes something is not done for a question, unless that is how it is asked for.
    if (isAsked && !questions.has(wordsOf(candidate.says)[0]?.stem ?? "")) continue;
    const match = matchTemplate(candidate, words, slotRules(properties, candidate.input));
    if (match && (!best || isCloser(match, best))) best = { ...candidate, ...match };
  }
  return best;
}

function isCloser(match: TemplateMatch, best: TemplateMatch): boolean {
  const left = ({ slots }: TemplateMatch) => [...slots.values()].join(" ").length;
  return match.closeness > best.closeness || (match.closeness === best.closeness && left(match) < left(best));
}

function wordScore(words: readonly Word[], known: ToolWords, vocabulary: Vocabulary): number {
  const { name, strong, values, weak, properties } = known;
  const { like, sharers } = vocabulary;
  if (isUnlikely(words, known, vocabulary)) return 0;
  const covered = name.filter((part) => words.some(({ stem }) => like(stem).has(part))).length;
  const takesColour = properties.some(({ name: property }) => /colou?r/iu.test(property));
  const takesPath = properties.some(({ name: property }) => /path|file|url/iu.test(property));
  // Without a word of its name, the words of its description are a weak sign.
  const weakWorth = covered > 0 ? 1 : 0.6;
  let score = 0;
  let hits = 0;
  for (const word of words) {
    if (isFiller(word) || isQuoted(word.raw)) continue;
    let hit = (takesColour && isColour(word.stem)) || (takesPath && isAddress(word.raw)) ? 1.5 : 0;
    for (const [stem, how] of like(word.stem)) {
      if (how === synonym && isNoun(word)) continue;
      if (strong.has(stem)) hit = Math.max(hit, (how * 3.2) / Math.sqrt(sharers.get(stem) ?? 1));
      if (values.has(stem)) hit = Math.max(hit, how * 3);
      if (weak.has(stem)) hit = Math.max(hit, how * weakWorth);
    }
    score += hit;
    if (hit > 0) hits++;
  }
  // What many names have in common, such as the name of a server, tells nothing about one of them.
  const own = name.filter((part) => (sharers.get(part) ?? 1) <= 2 && !fillers.has(part)).length;
  // One word of a long name is no sign: "time" alone is not about waiting times.
  const isThin = hits === 1 && covered * 2 < own;
  return (
    score + (2 * covered) / Math.max(1, own, covered) + pointing(words, known, vocabulary) - (isThin ? 1 : 0)
  );
}

/** A plural is no verb: nobody who says "looks" wants to search. */
const isNoun = ({ raw, stem }: Word): boolean => verbs.has(stem) && raw.toLowerCase() !== stem;

const questions = new Set("what which who where when how why is are do does did".split(" "));
const deeds = new Set(
  "clear delete remove reset erase drop cancel send write create add update edit save move rename book buy pay".split(
    " ",
  ),
);

const isDeed = (name: readonly string[]): boolean => name.some((part) => deeds.has(part));

function isUnlikely(
  words: readonly Word[],
  { name, strong, weak, values }: ToolWords,
  { like }: Vocabulary,
): boolean {
  const [verb] = words.filter((word) => !isFiller(word));
  const isQuestion = words.some(({ stem }) => questions.has(stem));
  // What changes something is done when that is said, and never for a question.
  const deed = name.find((part) => deeds.has(part));
  if (deed !== undefined && (isQuestion || !words.some(({ stem }) => like(stem).has(deed)))) return true;
  // "Run it", "delete the file": a verb that the tool does not have is not what the tool does.
  if (!verb || isQuestion || !/^\p{L}+$/u.test(verb.raw)) return false;
  return ![...like(verb.stem).keys()].some((stem) => strong.has(stem) || weak.has(stem) || values.has(stem));
}

/** "Show it", "make them blue": said of something that has an id. */
function pointing(
  words: readonly Word[],
  { strong, weak, properties }: ToolWords,
  { like }: Vocabulary,
): number {
  const takesReference = properties.some(({ required, isReference }) => required && isReference);
  if (!takesReference || !refersBack(words)) return 0;
  const knows = (set: ReadonlySet<string>) =>
    words.some((word) => !isFiller(word) && [...like(word.stem).keys()].some((stem) => set.has(stem)));
  if (onlyPoints(words) && (knows(strong) || knows(weak))) return 4;
  return knows(strong) ? 1 : 0;
}
