import { isRecord, type Json, type ToolSpec } from "capstan";
import { isPointerPhrase } from "../language/pointers.ts";
import { readValue } from "../language/read-value.ts";
import { isRemoval } from "../language/removal.ts";
import { fillers } from "../language/synonyms.ts";
import { tokenize, toNameStems, toStem, unquote, type Word } from "../language/words.ts";
import type { ToolMatch } from "../matching/match-tool.ts";
import { getProperties, isIdName, type Property } from "../matching/properties.ts";
import { fillRules } from "./fill-rules.ts";
import { findLastValue } from "./find-in-results.ts";
import {
  type DialogContext,
  matchesSearch,
  type Resolution,
  resolveReference,
  wrapId,
} from "./resolve-reference.ts";

export type Input = { readonly [key: string]: Json };

/** A name given where an id is needed, and why it could not be resolved. */
export type OpenReference = {
  readonly property: Property;
  readonly phrase: string;
  readonly resolution: Exclude<Resolution, { type: "found" }>;
};

export type FillResult = {
  readonly input: Input;
  readonly missing: readonly Property[];
  readonly open: readonly OpenReference[];
  /** All names given where an id is needed, including resolved ones. */
  readonly phrases: readonly string[];
};

export type FillContext = {
  readonly match: ToolMatch;
  readonly properties: readonly Property[];
  readonly words: readonly Word[];
  readonly context: DialogContext;
  readonly input: Record<string, Json>;
  readonly open: OpenReference[];
  readonly phrases: string[];
  /** Words that have been used as the value of an argument. */
  readonly used: Set<Word>;
};

/** Fills the arguments of a tool from the utterance and from earlier results, and lists the missing ones. */
export function fillArguments(match: ToolMatch, words: readonly Word[], context: DialogContext): FillResult {
  const properties = getProperties(match.tool);
  const state: FillContext = {
    match: match.example ? match : withCodes(match, words),
    properties,
    words,
    context: isRemoval(words) ? narrowContext(match.tool, context) : context,
    input: {},
    open: [],
    phrases: [],
    used: new Set(),
  };
  fillFromExample(state);
  const isOpen = (property: Property) => state.open.some((open) => open.property.name === property.name);
  for (const rule of fillRules) {
    for (const property of properties) {
      if (state.input[property.name] !== undefined || isOpen(property)) continue;
      const value = rule(property, state);
      if (value !== undefined) state.input[property.name] = value;
    }
  }
  for (const { name, required, defaultValue } of properties)
    if (required && defaultValue !== undefined) state.input[name] ??= defaultValue;
  for (const { name, minItems } of properties) {
    const value = state.input[name];
    if (Array.isArray(value) && value.length < minItems) delete state.input[name];
  }
  const missing = properties.filter(
    (property) => property.required && state.input[property.name] === undefined && !isOpen(property),
  );
  return { input: state.input, missing, open: state.open, phrases: state.phrases };
}

/** Takes the codes of a sentence such as "I'm at B9 and have to go to C4" as the items that a list needs. */
export function withCodes(match: ToolMatch, words: readonly Word[]): ToolMatch {
  const list = getProperties(match.tool).find(
    ({ required, isReference, type, minItems }) =>
      required && isReference && type === "array" && minItems > 1,
  );
  const codes = words.filter(({ raw }) => /^\p{Lu}{1,2}-?\d+$/u.test(raw)).map(({ raw }) => raw);
  if (!list || codes.length < list.minItems) return match;
  const input = { [list.name]: codes.map((_, at) => `{${at}}`) };
  const slots = new Map(codes.map((code, at) => [String(at), code]));
  return { ...match, example: { phrase: "", pieces: [], input, slots, matchedWeight: 0, closeness: 0 } };
}

function fillFromExample(state: FillContext): void {
  const { match, properties, input, words, used } = state;
  const { example } = match;
  if (!example) return;
  const { slots } = example;
  for (const property of properties) {
    const slotValue = slots.get(property.name);
    const template = slotValue === undefined ? example.input[property.name] : `{${property.name}}`;
    const value = template === undefined ? undefined : fillTemplate(template, property, state);
    if (value !== undefined) input[property.name] = value;
  }
  const slotWords = new Set([...slots.values()].flatMap((value) => value.split(" ")));
  for (const word of words) if (slotWords.has(word.raw) || isSlotValue(word, slots)) used.add(word);
}

const isSlotValue = ({ raw }: Word, slots: ReadonlyMap<string, string>): boolean =>
  [...slots.values()].includes(unquote(raw));

/** Fills the slots of an example value. Undefined while the id of a name in it is unknown. */
function fillTemplate(template: Json, property: Property, state: FillContext): Json | undefined {
  const slots = state.match.example?.slots ?? new Map<string, string>();
  if (Array.isArray(template)) {
    const member = property.member ?? property;
    const values = template.map((part: Json) => fillTemplate(part, member, state));
    return values.some((value) => value === undefined) ? undefined : (values as Json[]);
  }
  if (isRecord(template)) {
    const parts = Object.entries(template as Input).map(([key, part]) => {
      const inner = property.inner.find(({ name }) => name === key);
      return [key, inner ? fillTemplate(part, inner, state) : (part as Json | undefined)] as const;
    });
    return parts.some(([, value]) => value === undefined) ? undefined : (Object.fromEntries(parts) as Input);
  }
  if (typeof template !== "string") return template;
  const onlySlot = /^\{([^}]*)\}$/u.exec(template)?.[1];
  if (onlySlot !== undefined) return resolveSlotValue(slots.get(onlySlot) ?? "", property, state);
  if (!template.includes("{")) return template;
  const text = template.replace(/\{([^}]*)\}/gu, (_, slot: string) => toSingular(slots.get(slot) ?? ""));
  return readValue(text, property);
}

/** Prefixes that announce a name, as in "number 7" or "the one about frost". */
const namingPrefix =
  /^(?:(?:the\s+)?ones?\s+(?=about|called|named|titled|with|that))?(?:(?:with\s+)?(?:the\s+)?(?:number|no\.?|nr\.?|id)\s+(?=\S)|#(?=\d)|(?:about|called|named|titled|saying|that\s+says)\s+(?:(?:the|a|an|my)\s+)?)?/iu;

/** Converts the text of a slot to an argument value. Names of items that have an id are resolved. */
function resolveSlotValue(slotText: string, property: Property, state: FillContext): Json | undefined {
  const { context, open, phrases } = state;
  const text = property.isReference ? slotText.replace(namingPrefix, "") : slotText;
  if (!property.isReference && isPointerPhrase(tokenize(text))) return findLastValue(property, text, context);
  const value = property.isReference && property.type !== "array" ? undefined : readValue(text, property);
  const needsId = property.isReference || (property.type === "number" && value === undefined);
  if (!needsId || text === "") return value;
  const resolution = resolveReference(text, property, excludeOwnLookups(text, state));
  phrases.push(text);
  if (resolution.type === "found") return resolution.value;
  if (resolution.type === "unknown" && isIdText(text, property)) return wrapId(parseId(text), property);
  open.push({ property, phrase: text, resolution });
  return undefined;
}

/** A pointer such as "there" must not refer to an item found for another slot of the same sentence. */
function excludeOwnLookups(text: string, { context, match }: FillContext): DialogContext {
  if (!isPointerPhrase(tokenize(text))) return context;
  const others = [...(match.example?.slots.values() ?? [])].filter((value) => value !== text);
  const isLookup = ({ at, input }: DialogContext["results"][number]) =>
    at > context.runStart && others.some((other) => matchesSearch(other, input));
  return { ...context, results: context.results.filter((result) => !isLookup(result)) };
}

/** Users may give an id directly. */
const isIdText = (text: string, { type, member, inner }: Property): boolean => {
  const wanted = type === "object" ? inner.find(({ name }) => isIdName(name))?.type : (member?.type ?? type);
  return wanted === "number"
    ? /^\d+$/u.test(text)
    : type !== "array" && /^[\p{Ll}\d][\w./#:@-]*$/u.test(text);
};
const parseId = (text: string): Json => (/^\d+$/u.test(text) ? Number(text) : text);

/** In a composed value such as the selector `type == "{type}"`, a plural would match nothing. */
const toSingular = (text: string): string => (/^\p{Ll}+$/u.test(text) ? toStem(text) : text);

/**
 * Restricts the context of a removal to results about the kind of item that the tool removes. A bare `id` could belong
 * to anything.
 */
export function narrowContext(tool: ToolSpec, context: DialogContext): DialogContext {
  const ids = getProperties(tool).filter(({ name, isReference }) => isReference && !/^ids?$/u.test(name));
  const noun = toNameStems(tool.name).findLast((part) => part !== "id" && !fillers.has(part)) ?? "";
  const results = context.results.filter(
    ({ name, items }) =>
      toNameStems(name).includes(noun) ||
      ids.some((id) => items.some((item) => item[id.name.replace(/s$/u, "")] !== undefined)),
  );
  return { ...context, results, isStrict: true };
}
