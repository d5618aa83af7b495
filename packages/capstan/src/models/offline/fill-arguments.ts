import type { Entry } from "../../history.ts";
import type { Json } from "../../json.ts";
import type { ToolMatch } from "./match-tool.ts";
import { type Property, propertiesOf } from "./properties.ts";
import { choiceIn, isAddress, isColour, numberIn, readValue } from "./read-value.ts";
import { fromResults } from "./refer-back.ts";
import { isFiller, likeness, nameWords, stemOf, unquoted, type Word } from "./words.ts";

export type Input = { readonly [key: string]: Json };
export type Filled = { readonly input: Input; readonly missing: readonly Property[] };

type Filling = {
  readonly match: ToolMatch;
  readonly properties: readonly Property[];
  readonly words: readonly Word[];
  readonly history: readonly Entry[];
  readonly input: Record<string, Json>;
  /** Words that have become the value of an argument. */
  readonly used: Set<Word>;
};

/** The arguments of a tool from the words of a sentence and from earlier results; and those that stay missing. */
export function fillArguments(match: ToolMatch, words: readonly Word[], history: readonly Entry[]): Filled {
  const properties = propertiesOf(match.tool);
  const filling: Filling = { match, properties, words, history, input: {}, used: new Set() };
  fillFromExample(filling);
  // From the surest sign to the weakest: what one rule takes, the next does not see.
  for (const rule of [
    fillChoice,
    fillColour,
    fillAddress,
    fillReference,
    fillPhrase,
    fillNumber,
    fillFlag,
    fillQuoted,
    fillRest,
  ]) {
    for (const property of properties) {
      if (filling.input[property.name] !== undefined) continue;
      const value = rule(property, filling);
      if (value !== undefined) filling.input[property.name] = value;
    }
  }
  for (const { name, required, fallback } of properties)
    if (required && fallback !== undefined) filling.input[name] ??= fallback;
  const missing = properties.filter(({ name, required }) => required && filling.input[name] === undefined);
  return { input: filling.input, missing };
}

function fillFromExample({ match: { example }, properties, input, words, used }: Filling): void {
  if (!example) return;
  const { slots } = example;
  for (const property of properties) {
    const meant = example.input[property.name];
    const own = slots.get(property.name);
    const isFixed = typeof meant !== "string" || !/\{[^}]*\}/u.test(meant);
    if (own !== undefined) {
      const value = readValue(own, property);
      if (value !== undefined) input[property.name] = value;
    } else if (meant !== undefined && isFixed) input[property.name] = meant;
    else if (typeof meant === "string") {
      const text = meant.replace(/\{([^}]*)\}/gu, (_, slot: string) => singular(slots.get(slot) ?? ""));
      const value = readValue(text, property);
      if (value !== undefined) input[property.name] = value;
    }
  }
  const taken = new Set([...slots.values()].flatMap((value) => value.split(" ")));
  for (const word of words) if (taken.has(unquoted(word.raw))) used.add(word);
}

/** In a made-up value such as a selector `type == "{type}"`, a plural would find nothing. */
const singular = (text: string): string => (/^\p{Ll}+$/u.test(text) ? stemOf(text) : text);

type Rule = (property: Property, filling: Filling) => Json | undefined;

const fillChoice: Rule = ({ choices, type }, { words, used }) => {
  const free = words.filter((word) => !used.has(word));
  const found = choiceIn(free, choices);
  if (!found) return undefined;
  for (const word of found.used) used.add(word);
  return type === "array" ? [found.choice] : found.choice;
};

const fillColour: Rule = (property, { words, used }) => {
  if (!/colou?r$|^fill$|^stroke$/iu.test(property.name) || property.choices.length > 0) return undefined;
  const word = words.find(({ stem }) => isColour(stem));
  if (!word) return undefined;
  used.add(word);
  return readValue(word.stem, property);
};

const fillAddress: Rule = (property, { words, used }) => {
  if (property.type !== "string" || !/path|file|url|uri|folder|directory/iu.test(property.name))
    return undefined;
  const wantsUrl = /url|uri/iu.test(property.name);
  const word = words.find(
    (candidate) =>
      !used.has(candidate) &&
      (wantsUrl ? /^https?:/u.test(candidate.raw) : isAddress(unquoted(candidate.raw))),
  );
  if (!word) return undefined;
  used.add(word);
  return unquoted(word.raw);
};

const fillReference: Rule = (property, { words, history }) =>
  property.choices.length === 0 && (property.required || /[iI]ds?$/u.test(property.name))
    ? fromResults(property, words, history)
    : undefined;

/** `near the lobby`, `level 2`: the name of the argument, said before its value. */
const fillPhrase: Rule = (property, { words, properties, used }) => {
  if (property.choices.length > 0 || property.type === "boolean" || property.type === "object")
    return undefined;
  const names = nameWords(property.name);
  const last = names.at(-1) ?? "";
  const at = words.findIndex(
    (word, index) => !used.has(word) && word.stem === last && index < words.length - 1,
  );
  if (at < 0) return undefined;
  const others = new Set(properties.flatMap(({ name }) => nameWords(name)).filter((name) => name !== last));
  const isPreposition = /^(?:near|from|to|in|by|with|about|around|for|at|until|since|before|after)$/u.test(
    last,
  );
  const phrase: Word[] = [];
  for (const word of words.slice(at + 1)) {
    if (used.has(word) || others.has(word.stem)) break;
    // What is in quotes is a value of its own.
    if (phrase.length > 0 && /^["“]/u.test(word.raw)) break;
    if (!isPreposition && (phrase.length > 0 || !/\d|^\p{Lu}|^["“]/u.test(word.raw))) break;
    phrase.push(word);
  }
  while (phrase[0] && /^(?:the|a|an|my)$/u.test(phrase[0].stem)) phrase.shift();
  if (phrase.length === 0) return undefined;
  const value = readValue(phrase.map(({ raw }) => unquoted(raw)).join(" "), property);
  if (value === undefined) return undefined;
  for (const word of [words[at], ...phrase]) if (word) used.add(word);
  return value;
};

const fillNumber: Rule = ({ type, name, required, isInteger }, { words, used }) => {
  if (type !== "number") return undefined;
  const isAmount = /limit|count|max|top|size|number|amount|^n$|^k$/iu.test(name);
  const word = words.find((candidate, index) => {
    const value = numberIn(candidate.raw);
    if (value === undefined || used.has(candidate) || (isInteger && !Number.isInteger(value))) return false;
    // "Gate 15" is a name, not an amount.
    const before = words[index - 1]?.raw ?? "";
    return required || (isAmount && !(index > 1 && /^\p{Lu}/u.test(before)) && candidate.stem !== "one");
  });
  if (!word) return undefined;
  used.add(word);
  return numberIn(word.raw);
};

const fillFlag: Rule = ({ type, name }, { words, used }) => {
  if (type !== "boolean") return undefined;
  const last = nameWords(name).at(-1) ?? "";
  const at = words.findIndex(({ stem }) => likeness(stem, last) >= 0.8);
  const word = words[at];
  if (!word) return undefined;
  used.add(word);
  return !/^(?:no|not|without|don't)$/u.test(words[at - 1]?.stem ?? "");
};

const fillQuoted: Rule = (property, { words, used }) => {
  if (property.type !== "string" || property.choices.length > 0) return undefined;
  const word = words.find((candidate) => !used.has(candidate) && /^["“]/u.test(candidate.raw));
  if (!word || !(property.required || isFreeText(property))) return undefined;
  used.add(word);
  return unquoted(word.raw);
};

const fillRest: Rule = (property, filling) => {
  if (property.type !== "string" || property.choices.length > 0 || /(?:^i|I|_i)d$/u.test(property.name))
    return undefined;
  const { words, used, match, properties } = filling;
  const texts = properties.filter(
    ({ required, type, choices }) => required && type === "string" && choices.length === 0,
  );
  const isOnlyText =
    texts.length === 1 && texts[0] === property && !/path|file|url|colou?r|date/iu.test(property.name);
  if (!isFreeText(property) && !isOnlyText) return undefined;
  if (/prompt|question|message|task/iu.test(property.name))
    return words.map(({ raw }) => raw).join(" ") || undefined;
  const rest = restOf(
    words.filter((word) => !used.has(word)),
    nameWords(match.tool.name),
  );
  for (const word of rest) used.add(word);
  return rest.map(({ raw }) => unquoted(raw)).join(" ") || undefined;
};

const isFreeText = ({ name }: Property): boolean =>
  /quer|term|text|search|keyword|topic|prompt|question|message|task|^q$|pattern|selector/iu.test(name);

/** What is left of a sentence without its verb and the little words around it. */
function restOf(words: readonly Word[], toolWords: readonly string[]): Word[] {
  const isVerb = ({ stem }: Word) => toolWords.some((part) => likeness(stem, part) > 0);
  const isEdge = (word: Word) => isFiller(word) || isVerb(word);
  const first = words.findIndex((word) => !isEdge(word));
  const last = words.findLastIndex((word) => !isFiller(word));
  return first < 0
    ? []
    : words
        .slice(first, last + 1)
        .filter((word, index) => index === 0 || !/^(?:the|all|please)$/u.test(word.stem));
}
