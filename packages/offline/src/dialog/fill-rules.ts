import type { Json } from "capstan";
import {
  findChoice,
  isAddress,
  isColor,
  isColorName,
  isPathName,
  parseNumber,
  readValue,
  stripDestination,
} from "../language/read-value.ts";
import { computeSimilarity, isFiller } from "../language/synonyms.ts";
import { isQuoted, joinWords, toNameStems, unquote, type Word } from "../language/words.ts";
import { isIdName, type Property } from "../matching/properties.ts";
import type { FillContext } from "./fill-arguments.ts";
import { findInResults } from "./find-in-results.ts";

/** Finds the value of an argument and marks its source words as used. */
type Rule = (property: Property, context: FillContext) => Json | undefined;

const fillChoice: Rule = ({ choices, type }, { words, used }) => {
  const free = words.filter((word) => !used.has(word));
  const found = findChoice(free, choices);
  if (!found) return undefined;
  for (const word of found.used) used.add(word);
  return type === "array" ? [found.choice] : found.choice;
};

const fillColor: Rule = (property, { words, used }) => {
  if (!isColorName(property.name) || property.choices.length > 0) return undefined;
  const word = words.find(({ stem }) => isColor(stem));
  if (!word) return undefined;
  used.add(word);
  return readValue(word.stem, property);
};

const fillAddress: Rule = (property, { words, used }) => {
  if (property.type !== "string" || !isPathName(property.name)) return undefined;
  const wantsUrl = /url|uri/iu.test(property.name);
  const word = words.find(
    (candidate) =>
      !used.has(candidate) &&
      (wantsUrl ? /^https?:/u.test(candidate.raw) : isAddress(unquote(candidate.raw))),
  );
  if (!word) return undefined;
  used.add(word);
  return unquote(word.raw);
};

const fillReference: Rule = (property, { words, context, match }) => {
  if (property.choices.length > 0 || !(property.required || isIdName(property.name))) return undefined;
  const toolNameStems = new Set(context.isStrict ? toNameStems(match.tool.name) : []);
  const objectWords = words.filter(({ stem }) => !toolNameStems.has(stem));
  return findInResults(property, objectWords, context);
};

/** Matches the name of the argument followed by its value: "near the lobby", "level 2". */
const fillPhrase: Rule = (property, { words, properties, used }) => {
  const { choices, type, isReference } = property;
  if (choices.length > 0 || type === "boolean" || type === "object" || isReference) return undefined;
  const last = toNameStems(property.name).at(-1) ?? "";
  const at = words.findIndex(
    (word, index) => !used.has(word) && word.stem === last && index < words.length - 1,
  );
  if (at < 0) return undefined;
  const others = new Set(properties.flatMap(({ name }) => toNameStems(name)).filter((name) => name !== last));
  const isPreposition = /^(?:near|from|to|in|by|with|about|around|for|at|until|since|before|after)$/u.test(
    last,
  );
  const phrase: Word[] = [];
  for (const word of words.slice(at + 1)) {
    if (used.has(word) || others.has(word.stem)) break;
    // Quoted text is one value.
    if (phrase.length > 0 && isQuoted(word.raw)) break;
    if (!isPreposition && (phrase.length > 0 || !(/\d|^\p{Lu}/u.test(word.raw) || isQuoted(word.raw)))) break;
    phrase.push(word);
  }
  while (phrase[0] && /^(?:the|a|an|my)$/u.test(phrase[0].stem)) phrase.shift();
  if (phrase.length === 0) return undefined;
  const value = readValue(joinWords(phrase), property);
  if (value === undefined) return undefined;
  for (const word of [words[at], ...phrase]) if (word) used.add(word);
  return value;
};

const fillNumber: Rule = ({ type, name, required, isInteger, isReference }, { words, used }) => {
  if (type !== "number" || isReference) return undefined;
  const isAmount = /limit|count|max|top|size|number|amount|^n$|^k$/iu.test(name);
  const word = words.find((candidate, index) => {
    const value = parseNumber(candidate.raw);
    if (value === undefined || used.has(candidate) || (isInteger && !Number.isInteger(value))) return false;
    // In "Platform 9" the number is part of a name.
    const before = words[index - 1]?.raw ?? "";
    return required || (isAmount && !(index > 1 && /^\p{Lu}/u.test(before)) && candidate.stem !== "one");
  });
  if (!word) return undefined;
  used.add(word);
  return parseNumber(word.raw);
};

const fillFlag: Rule = ({ type, name }, { words, used }) => {
  if (type !== "boolean") return undefined;
  const last = toNameStems(name).at(-1) ?? "";
  const at = words.findIndex(({ stem }) => computeSimilarity(stem, last) >= 0.8);
  const word = words[at];
  if (!word) return undefined;
  used.add(word);
  return !/^(?:no|not|without|don't)$/u.test(words[at - 1]?.stem ?? "");
};

const fillQuoted: Rule = (property, { words, used }) => {
  if (property.type !== "string" || property.choices.length > 0) return undefined;
  const word = words.find((candidate) => !used.has(candidate) && isQuoted(candidate.raw));
  if (!word || !(property.required || isFreeText(property))) return undefined;
  used.add(word);
  return unquote(word.raw);
};

const fillRest: Rule = (property, state) => {
  if (property.type !== "string" || property.choices.length > 0 || isIdName(property.name)) return undefined;
  const { words, used, match, properties } = state;
  const texts = properties.filter(
    ({ required, type, choices }) => required && type === "string" && choices.length === 0,
  );
  const isOnlyText =
    texts.length === 1 && texts[0] === property && !/path|file|url|colou?r|date/iu.test(property.name);
  // Optional arguments are filled only if the user names them.
  if (!property.required || (!isFreeText(property) && !isOnlyText)) return undefined;
  if (/prompt|question|message|task/iu.test(property.name))
    return joinWords(stripToolName(words, match)) || undefined;
  const own = toNameStems(match.tool.name);
  const rest = extractContent(
    stripDestination(
      words.filter((word) => !used.has(word)),
      own,
    ),
    own,
  );
  for (const word of rest) used.add(word);
  return joinWords(rest) || undefined;
};

/** Strips words that name the tool: "ask an agent what it is" becomes "what it is". */
function stripToolName(words: readonly Word[], { tool }: FillContext["match"]): readonly Word[] {
  const names = toNameStems(tool.name);
  const last = words.slice(0, 4).findLastIndex(({ stem }) => names.includes(stem));
  return words.slice(last + 1);
}

const isFreeText = ({ name }: Property): boolean =>
  /quer|term|text|search|keyword|topic|prompt|question|message|task|^q$|pattern|selector/iu.test(name);

/** The sentence without its verb and the fillers around it. */
function extractContent(words: readonly Word[], toolWords: readonly string[]): Word[] {
  const isVerb = ({ stem }: Word) => toolWords.some((part) => computeSimilarity(stem, part) > 0);
  const isEdge = (word: Word) => isFiller(word) || isVerb(word);
  const first = words.findIndex((word) => !isEdge(word));
  const last = words.findLastIndex((word) => !isFiller(word));
  return first < 0
    ? []
    : words
        .slice(first, last + 1)
        .filter((word, index) => index === 0 || !/^(?:the|all|please)$/u.test(word.stem));
}

/** Ordered from the strongest evidence to the weakest. Words used by one rule are not seen by the next. */
export const fillRules: readonly Rule[] = [
  fillChoice,
  fillColor,
  fillAddress,
  fillReference,
  fillPhrase,
  fillNumber,
  fillFlag,
  fillQuoted,
  fillRest,
];
