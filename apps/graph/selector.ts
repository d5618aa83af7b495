// The selector language for nodes and edges: `type == 'cat' and (age > 4 or name contains 'mit')`, `*` for all.
//
//   or   = and { "or" and }        and  = test { "and" test }
//   test = "(" or ")" | property ("==" | "!=" | "<" | "<=" | ">" | ">=" | "contains") value

import type { Properties } from "./network.ts";
import { isSameKind, toSingular } from "./to-singular.ts";

/** A parsed selector. `properties` lists all properties it uses. */
export type Selector = { readonly properties: readonly string[]; matches(properties: Properties): boolean };

export class SelectorError extends Error {}

type Value = string | number | boolean;
type Test = (properties: Properties) => boolean;
type Token = { readonly kind: "word" | "text" | "sign" | "end"; readonly text: string; readonly at: number };

const maxDepth = 50;
const maxLength = 2000;

/** Parses a selector over the known properties, in any case. Errors state the position and what was expected. */
export function parseSelector(source: string, known: readonly string[] = []): Selector {
  if (source.trim() === "*") return { properties: [], matches: () => true };
  if (source.length > maxLength)
    throw new SelectorError(`A selector can have at most ${maxLength} characters.`);
  const reader = new Parser(source, known);
  const matches = reader.or(0);
  reader.end();
  return { properties: [...reader.properties], matches };
}

const tokenPattern = /\s*(?:('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(==|!=|<=|>=|<|>|[()])|([^\s'"()=!<>]+))/uy;

function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  const pattern = new RegExp(tokenPattern);
  while (source.slice(pattern.lastIndex).trim() !== "") {
    const start = pattern.lastIndex;
    const match = pattern.exec(source);
    if (!match) throw createTokenError(source, start);
    const [whole, quoted, sign, word] = match;
    const at = start + whole.length - whole.trimStart().length;
    if (quoted !== undefined)
      tokens.push({ kind: "text", text: quoted.slice(1, -1).replace(/\\(.)/gsu, "$1"), at });
    else
      tokens.push(
        sign === undefined ? { kind: "word", text: word ?? "", at } : { kind: "sign", text: sign, at },
      );
  }
  return [...tokens, { kind: "end", text: "", at: source.length }];
}

function createTokenError(source: string, start: number): SelectorError {
  const at = start + source.slice(start).search(/\S/u);
  const character = source[at] ?? "";
  const reason = {
    "'": "this quote is not closed",
    '"': "this quote is not closed",
    "=": 'write "==" for equal',
    "!": 'write "!=" for not equal',
  }[character];
  return createSelectorError(source, at, reason ?? `unexpected "${character}"`);
}

function createSelectorError(source: string, at: number, problem: string): SelectorError {
  return new SelectorError(
    `Selector ${source}: at position ${at + 1}, ${problem}. Example: type == 'cat' and age > 4`,
  );
}

const foldCase = (value: Value): string => String(value).toLowerCase();

/** Users and models write `Cat` and `cat`, `5` and `'5'`: treat them as equal. */
const isSame = (left: Value, right: Value): boolean => foldCase(left) === foldCase(right);

const comparisons: { readonly [sign: string]: (left: Value, right: Value) => boolean } = {
  "==": isSame,
  "!=": (left, right) => !isSame(left, right),
  "<": (left, right) => compareValues(left, right) < 0,
  "<=": (left, right) => compareValues(left, right) <= 0,
  ">": (left, right) => compareValues(left, right) > 0,
  ">=": (left, right) => compareValues(left, right) >= 0,
  contains: (left, right) => foldCase(left).includes(foldCase(right)),
};

class Parser {
  readonly properties: Set<string> = new Set();
  readonly #source: string;
  readonly #tokens: readonly Token[];
  readonly #known: readonly string[];
  #at = 0;

  constructor(source: string, known: readonly string[]) {
    this.#source = source;
    this.#known = known;
    this.#tokens = tokenize(source);
  }

  or(depth: number): Test {
    const first = this.#and(depth);
    const others: Test[] = [];
    while (this.#takeWord("or")) others.push(this.#and(depth));
    if (others.length === 0) return first;
    return (properties) => first(properties) || others.some((test) => test(properties));
  }

  end(): void {
    const next = this.#next();
    if (next.kind !== "end") throw this.#problem(next, `expected "and", "or" or the end, not "${next.text}"`);
  }

  #and(depth: number): Test {
    const first = this.#test(depth);
    const others: Test[] = [];
    while (this.#takeWord("and")) others.push(this.#test(depth));
    if (others.length === 0) return first;
    return (properties) => first(properties) && others.every((test) => test(properties));
  }

  #test(depth: number): Test {
    const first = this.#next();
    if (first.kind === "sign" && first.text === "(") {
      if (depth >= maxDepth) throw this.#problem(first, "too many nested parentheses");
      const inner = this.or(depth + 1);
      const close = this.#next();
      if (close.text !== ")" || close.kind !== "sign") throw this.#problem(close, 'a ")" is missing');
      return inner;
    }
    if (first.kind !== "word") throw this.#problem(first, "expected the name of a property");
    return this.#comparison(first);
  }

  #comparison({ text }: Token): Test {
    const property = findPropertyName(text, this.#known) ?? text;
    const sign = this.#next();
    const name = sign.kind === "word" ? sign.text.toLowerCase() : sign.text;
    const compare = sign.kind !== "text" && Object.hasOwn(comparisons, name) ? comparisons[name] : undefined;
    if (!compare)
      throw this.#problem(sign, `expected one of ${Object.keys(comparisons).join(" ")} after "${property}"`);
    const token = this.#next();
    if (token.kind !== "word" && token.kind !== "text")
      throw this.#problem(token, `expected a value after "${sign.text}"`);
    const value = token.kind === "text" ? token.text : parseWord(token.text);
    this.properties.add(property);
    return (properties) => {
      const own = Object.hasOwn(properties, property) ? properties[property] : undefined;
      return own === undefined ? name === "!=" : compare(own, value);
    };
  }

  #takeWord(word: string): boolean {
    const token = this.#tokens[this.#at];
    const isNext = token?.kind === "word" && token.text.toLowerCase() === word;
    if (isNext) this.#at++;
    return isNext;
  }

  #next(): Token {
    return this.#tokens[this.#at++] ?? { kind: "end", text: "", at: this.#source.length };
  }

  #problem({ at, kind }: Token, problem: string): SelectorError {
    return createSelectorError(this.#source, at, kind === "end" ? `${problem}, but it ends` : problem);
  }
}

/** The property of that name, if need be in another case or number. */
export function findPropertyName(name: string, known: readonly string[]): string | undefined {
  const fold = (text: string) => toSingular(text.trim().toLowerCase());
  return (
    known.find((property) => property === name) ??
    known.find((property) => fold(property) === fold(name)) ??
    known.find((property) => isSameKind(property, name.trim()))
  );
}

function parseWord(word: string): Value {
  if (word === "true" || word === "false") return word === "true";
  return /^-?\d+(?:\.\d+)?$/u.test(word) ? Number(word) : word;
}

function compareValues(left: Value, right: Value): number {
  const [first, second] = [Number(left), Number(right)];
  if (!Number.isNaN(first) && !Number.isNaN(second)) return first - second;
  return foldCase(left) < foldCase(right) ? -1 : foldCase(left) > foldCase(right) ? 1 : 0;
}
