import { fillers, isFiller, synonym, verbs } from "./meanings.ts";
import { isAddress, isColour } from "./read-value.ts";
import { onlyPoints, refersBack } from "./refer-back.ts";
import { asks, questions } from "./taking-away.ts";
import type { ToolWords, Vocabulary } from "./vocabulary.ts";
import { isQuoted, nameWords, type Word } from "./words.ts";

/** How much the words of a sentence are those of a tool. */
export function wordScore(words: readonly Word[], known: ToolWords, vocabulary: Vocabulary): number {
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
  for (const [at, word] of words.entries()) {
    if (isFiller(word) || isQuoted(word.raw)) continue;
    let hit = (takesColour && isColour(word.stem)) || (takesPath && isAddress(word.raw)) ? 1.5 : 0;
    for (const [stem, how] of like(word.stem)) {
      if (how === synonym && isNoun(word, words[at - 1])) continue;
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

/** A plural is no verb, nor is what has an article: nobody who says "looks" or "the look" wants to search. */
const isNoun = ({ raw, stem }: Word, before: Word | undefined): boolean =>
  verbs.has(stem) && (raw.toLowerCase() !== stem || /^(?:a|an|the|which|every)$/u.test(before?.stem ?? ""));

const deeds = new Set(
  (
    "clear delete remove reset erase drop cancel send write create add update edit save move rename book buy pay " +
    "style"
  ).split(" "),
);

export const isDeedWord = (stem: string): boolean => deeds.has(stem);

/** A tool that changes something, by its name or by how it is asked for: "save …", "delete …". */
export const isDeed = ({ name, examples }: Pick<ToolWords, "name" | "examples">): boolean =>
  name.some((part) => deeds.has(part)) ||
  examples.some(({ pieces: [first] }) => first !== undefined && "stem" in first && deeds.has(first.stem));

const looks = new Set("get list show find search read query".split(" "));

/** A tool that only looks at something, by its name. */
export const isLook = (name: string): boolean => nameWords(name).some((part) => looks.has(part));

/** Whoever asks "should I paint it?" has not decided: nothing is done for it, at most something is looked up. */
export const isUndecided = ([first, second]: readonly Word[], name: readonly string[]): boolean =>
  /^(?:should|shall)$/u.test(first?.stem ?? "") &&
  second?.stem !== "you" &&
  !name.some((part) => looks.has(part));

function isUnlikely(words: readonly Word[], known: ToolWords, { like }: Vocabulary): boolean {
  const { name, strong, weak, values } = known;
  const [verb] = words.filter((word) => !isFiller(word));
  const isQuestion = words.some(({ stem }) => questions.has(stem));
  // What changes something is done when that is said, and never for a question.
  if (isDeed(known) && (isQuestion || asks(words))) return true;
  const deed = name.find((part) => deeds.has(part));
  if (deed !== undefined && !words.some(({ stem }) => like(stem).has(deed))) return true;
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
