import type { ToolSpec } from "capstan";
import { isPointer } from "../language/pointers.ts";
import { findVerb, isQuestion, isRemoval, onlyRemoves } from "../language/removal.ts";
import { computeSimilarity, isFiller } from "../language/synonyms.ts";
import { isSimilar, joinWords, tokenize, type Word } from "../language/words.ts";
import { matchTemplate, type TemplateMatch } from "./match-template.ts";
import type { Example } from "./parse-examples.ts";
import { getProperties, type Property } from "./properties.ts";
import { hasSideEffect, isAdviceQuestion, scoreTool } from "./score-tool.ts";
import { getVocabulary, type ToolWords, type Vocabulary } from "./vocabulary.ts";

export type ToolMatch = {
  readonly tool: ToolSpec;
  readonly score: number;
  /** The example that the sentence matches. */
  readonly example?: Example & TemplateMatch;
};

/** A sentence with a lower score is not about the tool. */
const minScore = 3;
/** Only the beginning of long text is matched, because the cost grows with its length. */
const maxWords = 60;
const templateScore = 10;

/** The tools, best first: by matching examples, else by words shared with the sentence. */
export function rankTools(sentence: readonly Word[], tools: readonly ToolSpec[]): ToolMatch[] {
  const words = sentence.slice(0, maxWords);
  const vocabulary = getVocabulary(tools);
  return vocabulary.tools
    .map((tool) => matchTool(words, tool, vocabulary))
    .sort((left, right) => right.score - left.score || countRequired(left) - countRequired(right));
}

/** Breaks ties in favor of the tool with fewer required arguments. */
const countRequired = ({ tool }: ToolMatch): number =>
  getProperties(tool).filter(({ required }) => required).length;

/** The tool that a sentence is about, if any. */
export function findBestTool(words: readonly Word[], tools: readonly ToolSpec[]): ToolMatch | undefined {
  const [best] = rankTools(words, tools);
  return best && best.score >= minScore ? best : undefined;
}

/** True if the sentence matches words of an example, not only its slots. */
export const hasTemplateMatch = ({ example }: ToolMatch): boolean => (example?.matchedWeight ?? 0) > 0;

function matchTool(words: readonly Word[], known: ToolWords, vocabulary: Vocabulary): ToolMatch {
  const { tool } = known;
  if (isAdviceQuestion(words, known.name)) return { tool, score: 0 };
  // A tool that can also add something never removes anything by its vocabulary alone.
  const score = isRemoval(words) && !onlyRemoves(known) ? 0 : scoreTool(words, known, vocabulary);
  const example = matchWithFlags(words, known) ?? matchPointer(words, known, vocabulary);
  if (!example) return { tool, score };
  // A template with nothing but a slot accepts any sentence that no other tool matches.
  const worth =
    example.matchedWeight > 0
      ? templateScore + 2 * example.closeness + score / 10
      : Math.max(score, minScore);
  return { tool, example, score: worth };
}

/** Like `findBestExample`, but also tries the sentence without its flags, such as "without delay". */
function matchWithFlags(words: readonly Word[], known: ToolWords): (Example & TemplateMatch) | undefined {
  const { rest, flags } = extractFlags(words, known.properties);
  const wholeMatch = findBestExample(words, known);
  const flagMatch = rest.length < words.length ? findBestExample(rest, known) : undefined;
  if (!flagMatch || (wholeMatch && !isCloser(flagMatch, wholeMatch))) return wholeMatch;
  return { ...flagMatch, input: { ...flagMatch.input, ...flags } };
}

/** The example with the most matching words. Breaks ties in favor of shorter slot values. */
export function findBestExample(
  sentence: readonly Word[],
  known: ToolWords,
): (Example & TemplateMatch) | undefined {
  const words = sentence.slice(0, maxWords);
  let best: (Example & TemplateMatch) | undefined;
  const isQuestionForSideEffect = hasSideEffect(known) && isQuestion(words);
  const isRemovalRequest = isRemoval(words);
  for (const candidate of known.examples) {
    // A question does not trigger a side effect unless the example is itself a question.
    if (isQuestionForSideEffect && !isQuestion(tokenize(candidate.phrase))) continue;
    if (isRemovalRequest && !candidate.isRemoval) continue;
    const match = matchTemplate(candidate, words, candidate.rules);
    if (match && (!best || isCloser(match, best))) best = { ...candidate, ...match };
  }
  return best;
}

function isCloser(match: TemplateMatch, best: TemplateMatch): boolean {
  const countSlotCharacters = ({ slots }: TemplateMatch) => [...slots.values()].join(" ").length;
  return (
    match.closeness > best.closeness ||
    (match.closeness === best.closeness && countSlotCharacters(match) < countSlotCharacters(best))
  );
}

export type FlagMatch = { readonly rest: readonly Word[]; readonly flags: { readonly [name: string]: true } };

/**
 * Extracts boolean arguments whose description contains the user's words, such as "without delay" or "smoke-free", and
 * returns the rest of the sentence.
 */
export function extractFlags(words: readonly Word[], properties: readonly Property[]): FlagMatch {
  const flags: Record<string, true> = {};
  let rest = words;
  for (const { name, type, description } of properties) {
    if (type !== "boolean") continue;
    const about = tokenize(description);
    const lengths = rest.map((_, at) => countFlagWords(rest.slice(at), about));
    const at = lengths.findIndex((length) => length > 0);
    if (at < 0) continue;
    flags[name] = true;
    rest = rest.toSpliced(at, lengths[at] ?? 0);
  }
  return { rest, flags };
}

/** The number of leading words that occur in the description: "without" and what follows, or a hyphenated word. */
function countFlagWords(words: readonly Word[], about: readonly Word[]): number {
  const [first] = words;
  if (/^(?:with|for|in)$/u.test(first?.stem ?? "")) return countNeedWords(words, about);
  const at = about.findIndex(({ stem }) => stem === first?.stem);
  if (at < 0) return 0;
  if (first?.stem !== "without") return first?.stem.includes("-") ? 1 : 0;
  const end = words.findIndex(({ stem }, index) => !isSimilar(about[at + index]?.stem ?? "", stem));
  const length = end < 0 ? words.length : end;
  return length > 1 ? length : 0;
}

/** The number of words of "with a wheelchair", if the description has the noun. */
function countNeedWords(words: readonly Word[], about: readonly Word[]): number {
  const noun = words.findIndex((word, at) => at > 0 && !isFiller(word));
  const { stem = "" } = words[noun] ?? {};
  return noun > 0 && stem.length > 3 && about.some((word) => isSimilar(word.stem, stem)) ? noun + 1 : 0;
}

/**
 * Matches "delete it" or "remove the first letter" to an example that removes one item, with the pointer in its slot.
 * Undefined if several tools have such examples, because the request is ambiguous.
 */
export function matchPointer(
  words: readonly Word[],
  known: ToolWords,
  { tools }: Vocabulary,
): (Example & TemplateMatch) | undefined {
  if (!isRemoval(words)) return undefined;
  const verb = findVerb(words)?.stem ?? "";
  const example = findRemovalExample(known);
  const isSame = example?.pieces.some((piece) => "stem" in piece && computeSimilarity(piece.stem, verb) > 0);
  const slot = example && getSlots(example)[0];
  const objectWords = words.slice(words.findIndex((word) => !isFiller(word)) + 1);
  const rest = objectWords.filter(({ stem }) => !known.nameStems.has(stem));
  const isPointing = rest.every((word) => isPointer(word) || isFiller(word)) && rest.some(isPointer);
  if (!example || !isSame || slot === undefined || !isPointing) return undefined;
  const isNamed = rest.length < objectWords.length;
  // A tool that can also add something needs an explicit object.
  if (!isNamed && !onlyRemoves(known)) return undefined;
  if (!isNamed && tools.some((other) => other !== known && findRemovalExample(other))) return undefined;
  return { ...example, slots: new Map([[slot, joinWords(rest)]]), matchedWeight: 0.5, closeness: 0.5 };
}

const getSlots = ({ pieces }: Example): string[] =>
  pieces.flatMap((piece) => ("slot" in piece ? piece.slot : []));

/** The example by which a tool removes one item by id. */
const findRemovalExample = ({ examples, properties }: ToolWords): Example | undefined =>
  examples.find((example) => {
    const [slot, ...others] = getSlots(example);
    const isReference = properties.some((property) => property.name === slot && property.isReference);
    return example.isRemoval && isReference && others.length === 0;
  });
