// The language in which nodes and edges are picked: `type == 'cat' and (age > 4 or name contains 'mit')`, `*` for all.
//
//   or   = and { "or" and }        and  = test { "and" test }
//   test = "(" or ")" | property ("==" | "!=" | "<" | "<=" | ">" | ">=" | "contains") value

import type { Properties } from "./network.ts";

/** A selector as a tree; `properties` are all that it asks for. */
export type Selector = { readonly properties: readonly string[]; matches(properties: Properties): boolean };

export class SelectorError extends Error {}

type Value = string | number | boolean;
type Test = (properties: Properties) => boolean;
type Token = { readonly kind: "word" | "text" | "sign" | "end"; readonly text: string; readonly at: number };

const deepest = 50;
const longest = 2000;

/** Reads a selector. What it cannot read it refuses with the place and what it expected. */
export function parseSelector(source: string): Selector {
  if (source.trim() === "*") return { properties: [], matches: () => true };
  if (source.length > longest) throw new SelectorError(`A selector has at most ${longest} characters.`);
  const reader = new Reader(source);
  const matches = reader.or(0);
  reader.end();
  return { properties: [...reader.properties], matches };
}

const tokenPattern = /\s*(?:('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(==|!=|<=|>=|<|>|[()])|([^\s'"()=!<>]+))/uy;

function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  const pattern = new RegExp(tokenPattern);
  while (source.slice(pattern.lastIndex).trim() !== "") {
    const start = pattern.lastIndex;
    const match = pattern.exec(source);
    if (!match) throw unreadable(source, start);
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

function unreadable(source: string, start: number): SelectorError {
  const at = start + source.slice(start).search(/\S/u);
  const character = source[at] ?? "";
  const why = {
    "'": "this quote is not closed",
    '"': "this quote is not closed",
    "=": 'write "==" for equal',
    "!": 'write "!=" for not equal',
  }[character];
  return problem(source, at, why ?? `"${character}" has no meaning here`);
}

function problem(source: string, at: number, what: string): SelectorError {
  return new SelectorError(
    `Selector ${source}: at position ${at + 1}, ${what}. Example: type == 'cat' and age > 4`,
  );
}

const folded = (value: Value): string => String(value).toLowerCase();

/** People and models write `Cat` and `cat`, `5` and `'5'`: both are meant. */
const isSame = (left: Value, right: Value): boolean => folded(left) === folded(right);

const comparisons: { readonly [sign: string]: (left: Value, right: Value) => boolean } = {
  "==": isSame,
  "!=": (left, right) => !isSame(left, right),
  "<": (left, right) => order(left, right) < 0,
  "<=": (left, right) => order(left, right) <= 0,
  ">": (left, right) => order(left, right) > 0,
  ">=": (left, right) => order(left, right) >= 0,
  contains: (left, right) => folded(left).includes(folded(right)),
};

class Reader {
  readonly properties: Set<string> = new Set();
  readonly #source: string;
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(source: string) {
    this.#source = source;
    this.#tokens = tokensOf(source);
  }

  or(depth: number): Test {
    const tests = [this.#and(depth)];
    while (this.#takeWord("or")) tests.push(this.#and(depth));
    return tests.length === 1 ? (tests[0] as Test) : (given) => tests.some((test) => test(given));
  }

  end(): void {
    const next = this.#next();
    if (next.kind !== "end") throw this.#problem(next, `expected "and", "or" or the end, not "${next.text}"`);
  }

  #and(depth: number): Test {
    const tests = [this.#test(depth)];
    while (this.#takeWord("and")) tests.push(this.#test(depth));
    return tests.length === 1 ? (tests[0] as Test) : (given) => tests.every((test) => test(given));
  }

  #test(depth: number): Test {
    const first = this.#next();
    if (first.kind === "sign" && first.text === "(") {
      if (depth >= deepest) throw this.#problem(first, "there are too many parentheses");
      const inner = this.or(depth + 1);
      const close = this.#next();
      if (close.text !== ")" || close.kind !== "sign") throw this.#problem(close, 'a ")" is missing');
      return inner;
    }
    if (first.kind !== "word") throw this.#problem(first, "expected the name of a property");
    return this.#comparison(first);
  }

  #comparison({ text: property }: Token): Test {
    const sign = this.#next();
    const name = sign.kind === "word" ? sign.text.toLowerCase() : sign.text;
    const compare = sign.kind !== "text" && Object.hasOwn(comparisons, name) ? comparisons[name] : undefined;
    if (!compare)
      throw this.#problem(sign, `expected one of ${Object.keys(comparisons).join(" ")} after "${property}"`);
    const token = this.#next();
    if (token.kind !== "word" && token.kind !== "text")
      throw this.#problem(token, `expected a value after "${sign.text}"`);
    const value = token.kind === "text" ? token.text : readWord(token.text);
    this.properties.add(property);
    return (given) => {
      const own = Object.hasOwn(given, property) ? given[property] : undefined;
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

  #problem({ at, kind }: Token, what: string): SelectorError {
    return problem(this.#source, at, kind === "end" ? `${what}, but it ends` : what);
  }
}

function readWord(word: string): Value {
  if (word === "true" || word === "false") return word === "true";
  return /^-?\d+(?:\.\d+)?$/u.test(word) ? Number(word) : word;
}

function order(left: Value, right: Value): number {
  const [first, second] = [Number(left), Number(right)];
  if (!Number.isNaN(first) && !Number.isNaN(second)) return first - second;
  return folded(left) < folded(right) ? -1 : folded(left) > folded(right) ? 1 : 0;
}
