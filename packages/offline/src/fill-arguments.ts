import { isRecord, type Json } from "capstan";
import { carefulScene } from "./careful-scene.ts";
import { fillRules } from "./fill-rules.ts";
import { lastValueOf } from "./from-results.ts";
import type { ToolMatch } from "./match-tool.ts";
import { isIdName, type Property, propertiesOf } from "./properties.ts";
import { readValue } from "./read-value.ts";
import { onlyRefersBack } from "./refer-back.ts";
import { isSearchFor, type Resolution, resolveReference, type Scene, wrapped } from "./resolve-reference.ts";
import { takesAway } from "./taking-away.ts";
import { stemOf, unquoted, type Word, wordsOf } from "./words.ts";

export type Input = { readonly [key: string]: Json };

/** A name that stands where an id is needed, and what has become of it. */
export type OpenReference = {
  readonly property: Property;
  readonly phrase: string;
  readonly resolution: Exclude<Resolution, { type: "found" }>;
};

export type Filled = {
  readonly input: Input;
  readonly missing: readonly Property[];
  readonly open: readonly OpenReference[];
  /** All names that stand where an id is needed, also those that are known. */
  readonly phrases: readonly string[];
};

export type Filling = {
  readonly match: ToolMatch;
  readonly properties: readonly Property[];
  readonly words: readonly Word[];
  readonly scene: Scene;
  readonly input: Record<string, Json>;
  readonly open: OpenReference[];
  readonly phrases: string[];
  /** Words that have become the value of an argument. */
  readonly used: Set<Word>;
};

/** The arguments of a tool from the words of a sentence and from earlier results; and those that stay missing. */
export function fillArguments(match: ToolMatch, words: readonly Word[], scene: Scene): Filled {
  const properties = propertiesOf(match.tool);
  const filling: Filling = {
    match,
    properties,
    words,
    scene: takesAway(words) ? carefulScene(match.tool, scene) : scene,
    input: {},
    open: [],
    phrases: [],
    used: new Set(),
  };
  fillFromExample(filling);
  const isOpen = (property: Property) => filling.open.some((open) => open.property.name === property.name);
  for (const rule of fillRules) {
    for (const property of properties) {
      if (filling.input[property.name] !== undefined || isOpen(property)) continue;
      const value = rule(property, filling);
      if (value !== undefined) filling.input[property.name] = value;
    }
  }
  for (const { name, required, fallback } of properties)
    if (required && fallback !== undefined) filling.input[name] ??= fallback;
  for (const { name, least } of properties) {
    const value = filling.input[name];
    if (Array.isArray(value) && value.length < least) delete filling.input[name];
  }
  const missing = properties.filter(
    (property) => property.required && filling.input[property.name] === undefined && !isOpen(property),
  );
  return { input: filling.input, missing, open: filling.open, phrases: filling.phrases };
}

function fillFromExample(filling: Filling): void {
  const { match, properties, input, words, used } = filling;
  const { example } = match;
  if (!example) return;
  const { slots } = example;
  for (const property of properties) {
    const own = slots.get(property.name);
    const meant = own === undefined ? example.input[property.name] : `{${property.name}}`;
    const value = meant === undefined ? undefined : written(meant, property, filling);
    if (value !== undefined) input[property.name] = value;
  }
  const taken = new Set([...slots.values()].flatMap((value) => value.split(" ")));
  for (const word of words) if (taken.has(word.raw) || slotted(word, slots)) used.add(word);
}

const slotted = ({ raw }: Word, slots: ReadonlyMap<string, string>): boolean =>
  [...slots.values()].includes(unquoted(raw));

/** A value of an example with the slots filled in; nothing while a name in it stands for an id that is not known. */
function written(meant: Json, property: Property, filling: Filling): Json | undefined {
  const slots = filling.match.example?.slots ?? new Map<string, string>();
  if (Array.isArray(meant)) {
    const member = property.member ?? property;
    const values = meant.map((part: Json) => written(part, member, filling));
    return values.some((value) => value === undefined) ? undefined : (values as Json[]);
  }
  if (isRecord(meant)) {
    const parts = Object.entries(meant as Input).map(([key, part]) => {
      const inner = property.inner.find(({ name }) => name === key);
      return [key, inner ? written(part, inner, filling) : (part as Json | undefined)] as const;
    });
    return parts.some(([, value]) => value === undefined) ? undefined : (Object.fromEntries(parts) as Input);
  }
  if (typeof meant !== "string") return meant;
  const alone = /^\{([^}]*)\}$/u.exec(meant)?.[1];
  if (alone !== undefined) return valueSaid(slots.get(alone) ?? "", property, filling);
  if (!meant.includes("{")) return meant;
  const text = meant.replace(/\{([^}]*)\}/gu, (_, slot: string) => singular(slots.get(slot) ?? ""));
  return readValue(text, property);
}

/** "Number 7", "the one about frost": what says that a name follows is no part of it. */
const naming =
  /^(?:(?:the\s+)?ones?\s+(?=about|called|named|titled|with|that))?(?:(?:with\s+)?(?:the\s+)?(?:number|no\.?|nr\.?|id)\s+(?=\S)|#(?=\d)|(?:about|called|named|titled|saying|that\s+says)\s+(?:(?:the|a|an|my)\s+)?)?/iu;

/** What was said as the value of an argument, looked up where it is the name of something with an id. */
function valueSaid(said: string, property: Property, filling: Filling): Json | undefined {
  const { scene, open, phrases } = filling;
  const text = property.isReference ? said.replace(naming, "") : said;
  if (!property.isReference && onlyRefersBack(wordsOf(text))) return lastValueOf(property, text, scene);
  const read = property.isReference && property.type !== "array" ? undefined : readValue(text, property);
  const needsId = property.isReference || (property.type === "number" && read === undefined);
  if (!needsId || text === "") return read;
  const resolution = resolveReference(text, property, pointable(text, filling));
  phrases.push(text);
  if (resolution.type === "found") return resolution.value;
  if (resolution.type === "unknown" && isId(text, property)) return wrapped(readId(text), property);
  open.push({ property, phrase: text, resolution });
  return undefined;
}

/** "There" is not what was just looked up for another part of the same sentence. */
function pointable(text: string, { scene, match }: Filling): Scene {
  if (!onlyRefersBack(wordsOf(text))) return scene;
  const others = [...(match.example?.slots.values() ?? [])].filter((value) => value !== text);
  const isLookup = ({ at, input }: Scene["results"][number]) =>
    at > scene.runFrom && others.some((other) => isSearchFor(other, input));
  return { ...scene, results: scene.results.filter((result) => !isLookup(result)) };
}

/** People who know an id may say it. */
const isId = (text: string, { type, member, inner }: Property): boolean => {
  const wanted = type === "object" ? inner.find(({ name }) => isIdName(name))?.type : (member?.type ?? type);
  return wanted === "number"
    ? /^\d+$/u.test(text)
    : type !== "array" && /^[\p{Ll}\d][\w./#:@-]*$/u.test(text);
};
const readId = (text: string): Json => (/^\d+$/u.test(text) ? Number(text) : text);

/** In a made-up value such as a selector `type == "{type}"`, a plural would find nothing. */
const singular = (text: string): string => (/^\p{Ll}+$/u.test(text) ? stemOf(text) : text);
