import type { ToolSpec } from "capstan";
import { hasPointer, isPointerRequest } from "../language/pointers.ts";
import { isAddress, isColor } from "../language/read-value.ts";
import { isQuestion, questionWords } from "../language/removal.ts";
import { fillers, isFiller, synonymScore, verbs } from "../language/synonyms.ts";
import { isQuoted, toNameStems, type Word } from "../language/words.ts";
import { getVocabulary, type ToolWords, type Vocabulary } from "./vocabulary.ts";

/** Scores how well a sentence matches a tool. */
export function scoreTool(words: readonly Word[], known: ToolWords, vocabulary: Vocabulary): number {
  const { name, nameStems, valueStems, topicStems, properties } = known;
  const { findSimilar, nameCounts } = vocabulary;
  if (isRuledOut(words, known, vocabulary)) return 0;
  const covered = name.filter((part) => words.some(({ stem }) => findSimilar(stem).has(part))).length;
  const takesColor = properties.some(({ name: property }) => /colou?r/iu.test(property));
  const takesPath = properties.some(({ name: property }) => /path|file|url/iu.test(property));
  // Without a match in the name, matches in the description count less.
  const topicWeight = covered > 0 ? 1 : 0.6;
  let score = 0;
  let hits = 0;
  for (const [at, word] of words.entries()) {
    if (isFiller(word) || isQuoted(word.raw)) continue;
    let hit = (takesColor && isColor(word.stem)) || (takesPath && isAddress(word.raw)) ? 1.5 : 0;
    for (const [stem, similarity] of findSimilar(word.stem)) {
      if (similarity === synonymScore && isNoun(word, words[at - 1])) continue;
      if (nameStems.has(stem)) hit = Math.max(hit, (similarity * 3.2) / Math.sqrt(nameCounts.get(stem) ?? 1));
      if (valueStems.has(stem)) hit = Math.max(hit, similarity * 3);
      if (topicStems.has(stem)) hit = Math.max(hit, similarity * topicWeight);
    }
    score += hit;
    if (hit > 0) hits++;
  }
  // Words shared by many tool names, such as a server name, do not identify a tool.
  const ownPartCount = name.filter((part) => (nameCounts.get(part) ?? 1) <= 2 && !fillers.has(part)).length;
  // A single word of a long name is not enough: "time" alone is not about waiting times.
  const isThin = hits === 1 && covered * 2 < ownPartCount;
  return (
    score +
    (2 * covered) / Math.max(1, ownPartCount, covered) +
    scorePointer(words, known, vocabulary) -
    (isThin ? 1 : 0)
  );
}

/** Plurals and words with an article are nouns: "looks" and "the look" are not requests to search. */
const isNoun = ({ raw, stem }: Word, before: Word | undefined): boolean =>
  verbs.has(stem) && (raw.toLowerCase() !== stem || /^(?:a|an|the|which|every)$/u.test(before?.stem ?? ""));

const sideEffectVerbs = new Set(
  (
    "clear delete remove reset erase drop cancel send write create add update edit save move rename book buy pay " +
    "style undo revert restore"
  ).split(" "),
);

export const isSideEffectVerb = (stem: string): boolean => sideEffectVerbs.has(stem);

/** True if the name or the examples of a tool suggest a side effect: "save …", "delete …". */
export const hasSideEffect = ({ name, examples }: Pick<ToolWords, "name" | "examples">): boolean =>
  name.some((part) => sideEffectVerbs.has(part)) ||
  examples.some(
    ({ pieces: [first] }) => first !== undefined && "stem" in first && sideEffectVerbs.has(first.stem),
  );

const lookupVerbs = new Set("get list show find search read query".split(" "));

/** True if the name of a tool suggests that it only reads. */
export const isLookupName = (name: string): boolean =>
  toNameStems(name).some((part) => lookupVerbs.has(part));

/** True for questions such as "should I paint it?", which may only trigger lookups. */
export const isAdviceQuestion = ([first, second]: readonly Word[], name: readonly string[]): boolean =>
  /^(?:should|shall)$/u.test(first?.stem ?? "") &&
  second?.stem !== "you" &&
  !name.some((part) => lookupVerbs.has(part));

function isRuledOut(words: readonly Word[], known: ToolWords, { findSimilar }: Vocabulary): boolean {
  const { name, nameStems, topicStems, valueStems } = known;
  const [verb] = words.filter((word) => !isFiller(word));
  const hasQuestionWord = words.some(({ stem }) => questionWords.has(stem));
  // A question never triggers a side effect.
  if (hasSideEffect(known) && (hasQuestionWord || isQuestion(words))) return true;
  if (asksForUnknown(words, known)) return true;
  const sideEffectVerb = name.find((part) => sideEffectVerbs.has(part));
  if (sideEffectVerb !== undefined && !words.some(({ stem }) => findSimilar(stem).has(sideEffectVerb)))
    return true;
  // A verb that the tool does not know, as in "run it", rules the tool out.
  if (!verb || hasQuestionWord || !/^\p{L}+$/u.test(verb.raw)) return false;
  return ![...findSimilar(verb.stem).keys()].some(
    (stem) => nameStems.has(stem) || topicStems.has(stem) || valueStems.has(stem),
  );
}

/** What a tool must be about to answer a question of this kind by its words alone. */
/** A map, so that a word such as "__proto__" has no topics. */
const questionTopics: ReadonlyMap<string, RegExp> = new Map([
  ["who", /^(?:who|people|person|author|owner|user|sender|member|contact|name)$/u],
  ["when", /^(?:when|time|date|day|hour|schedule|calendar|year)$/u],
  ["why", /^(?:why|reason|cause)$/u],
]);

/** True if the sentence asks who, when or why, and nothing about the tool suggests that it knows. */
function asksForUnknown([first]: readonly Word[], { examples, topicStems, nameStems }: ToolWords): boolean {
  const topics = questionTopics.get(first?.stem ?? "");
  if (!topics) return false;
  const stems = examples.flatMap(({ pieces }) =>
    pieces.flatMap((piece) => ("stem" in piece ? piece.stem : [])),
  );
  return ![...stems, ...topicStems, ...nameStems].some((stem) => topics.test(stem));
}

/** Scores requests that point to an item, such as "show it" or "make them blue", for tools that take an id. */
function scorePointer(
  words: readonly Word[],
  { nameStems, topicStems, properties }: ToolWords,
  { findSimilar }: Vocabulary,
): number {
  const takesReference = properties.some(({ required, isReference }) => required && isReference);
  if (!takesReference || !hasPointer(words)) return 0;
  const matchesAny = (set: ReadonlySet<string>) =>
    words.some((word) => !isFiller(word) && [...findSimilar(word.stem).keys()].some((stem) => set.has(stem)));
  if (isPointerRequest(words) && (matchesAny(nameStems) || matchesAny(topicStems))) return 4;
  return matchesAny(nameStems) ? 1 : 0;
}

const displayVerbs = new Set("show display highlight focus zoom open set run start go".split(" "));

/** True if the name and examples of a tool suggest that it neither changes nor displays anything. */
export function isReadOnly(tool: ToolSpec, tools: readonly ToolSpec[]): boolean {
  const known = getVocabulary(tools).tools.find((one) => one.tool === tool);
  return known !== undefined && !hasSideEffect(known) && !known.name.some((part) => displayVerbs.has(part));
}
