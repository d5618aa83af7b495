// Runs the validator on a compiled schema. What a model sends must not block the process, whatever the schema: there is
// a limit to the steps of a validation, to the keys it compares with patterns, and to lists without duplicates.
import { AgentError } from "../errors.ts";
import {
  type CompiledSchema,
  compileSchema,
  type KeyPatterns,
  type Node,
  patternFormat,
} from "./compile-schema.ts";

export type JsonSchema = { readonly [keyword: string]: unknown };

const mostCharacters = 1_000_000;
const mostDepth = 64;

/**
 * Checks values by JSON Schema 2020-12. A schema that cannot be checked is refused here, with `invalid_definition`;
 * only what the engine for patterns alone can know is refused with the first value.
 */
export function jsonValidator(
  json: JsonSchema,
  owner: string,
): (value: unknown) => Promise<readonly string[]> {
  checkSize(json, owner);
  const compiled = compileSchema(json, owner);
  // The promise is kept, not its value: calls may check their inputs at the same time.
  let loading: Promise<IssuesOf> | undefined;
  return async (value) => {
    loading ??= loadValidator(compiled, owner);
    return (await loading)(value);
  };
}

/** Holds for every schema: a model has to read it, and code walks through it. */
export function checkSize(json: JsonSchema, owner: string): void {
  let left = mostCharacters;
  const refuse = (problem: string) => {
    throw new AgentError("invalid_definition", `The schema of ${owner} ${problem}.`);
  };
  const measure = (value: unknown, depth: number): void => {
    left -= typeof value === "object" && value !== null ? 2 : String(value).length + 1;
    // Checked while counting: a schema whose parts are shared may be small in memory and endless as text.
    if (left < 0) refuse(`is larger than ${mostCharacters} characters`);
    if (typeof value !== "object" || value === null) return;
    if (depth === 0) refuse(`is nested deeper than ${mostDepth} levels`);
    for (const [key, member] of Object.entries(value)) {
      left -= Array.isArray(value) ? 0 : key.length + 3;
      measure(member, depth - 1);
    }
  };
  measure(json, mostDepth);
}

const maxSteps = 3_000_000;
const mostUniqueItems = 5_000;
/** Different keys times objects. */
const mostKeyChecks = 10_000_000;

/** Says what is wrong with a value, one issue for each fault; nothing when it is valid. Never throws for a bad value. */
export type IssuesOf = (value: unknown) => readonly string[];

/** Loads what is used: an agent whose tools use zod never pays for the validator, nor one without patterns for RE2. */
export async function loadValidator(compiled: CompiledSchema, owner: string): Promise<IssuesOf> {
  const { root, targets, formats, keyPatterns, usesUniqueItems, nodes } = compiled;
  const steps: Steps = { left: maxSteps };
  for (const node of nodes) countLooks(node, steps);
  const { format, validate } = await import("@cfworker/json-schema");
  const matcherOf = formats.size + keyPatterns.length > 0 ? await loadMatchers(owner) : undefined;
  if (matcherOf) {
    // The validator has one table of formats for all schemas; a pattern means the same in each of them.
    for (const [name, re2] of formats) format[name] ??= matcherOf(name.slice(patternFormat.length), re2);
  }
  const fillers = matcherOf ? keyPatterns.map((patterns) => propertyFiller(patterns, matcherOf)) : [];
  const errorsOf = (value: unknown, onlyFirst: boolean): ValidatorError[] => {
    steps.left = maxSteps;
    return validate(value, root, "2020-12", targets, onlyFirst).errors;
  };
  return (value) => {
    if (fillers.length > 0 || usesUniqueItems) {
      const { keys, objects, longestList } = measure(value);
      if (usesUniqueItems && longestList > mostUniqueItems) return ["has a list too long to be checked"];
      if (fillers.length > 0 && keys.size * objects > mostKeyChecks)
        return ["has too many different keys to be checked"];
      for (const fill of fillers) fill(keys);
    }
    return issuesFrom((onlyFirst) => errorsOf(value, onlyFirst));
  };
}

/** How many more schemas the validator may visit before it throws a RangeError. */
type Steps = { left: number };

/** The validator reads this keyword of every schema it looks at: alternatives inside alternatives may be endless work. */
function countLooks(node: Node, steps: Steps): void {
  Object.defineProperty(node, "$recursiveAnchor", {
    get() {
      if (--steps.left < 0) throw new RangeError("too many steps");
    },
  });
}

/** All faults, or the first when there are too many: the validator spreads its errors into arguments. */
function issuesFrom(errorsOf: (onlyFirst: boolean) => ValidatorError[]): readonly string[] {
  let errors: ValidatorError[] = [];
  try {
    errors = errorsOf(true);
    if (errors.length > 0) errors = errorsOf(false);
  } catch (error) {
    if (error instanceof URIError) return ["has a key that is not well-formed text"];
    // Too many steps, or a stack too deep for the validator.
    if (!(error instanceof RangeError)) throw error;
    if (errors.length === 0) return ["takes too many steps to be checked"];
  }
  const causes = errors.filter(isCause);
  return (causes.length > 0 ? causes : errors).map(describeError);
}

type Matches = (text: string) => boolean;
type MatcherOf = (pattern: string, re2: string) => Matches;

async function loadMatchers(owner: string): Promise<MatcherOf> {
  const { RE2JS } = await import("re2js");
  return (pattern, re2) => {
    try {
      const compiled = RE2JS.compile(re2);
      return (text) => compiled.test(text);
    } catch (cause) {
      const message = `The pattern ${JSON.stringify(pattern)} in the schema of ${owner} cannot be matched in linear time.`;
      throw new AgentError("invalid_definition", message, { cause });
    }
  };
}

/** Writes the keys that match a pattern into `properties`, which says the same as the pattern for a value with these keys. */
function propertyFiller(
  { node, properties, patterns }: KeyPatterns,
  matcherOf: MatcherOf,
): (keys: Set<string>) => void {
  const matchers = patterns.map(({ pattern, re2, schema }) => ({ matches: matcherOf(pattern, re2), schema }));
  return (keys) => {
    // Without a prototype: a key may have any name.
    const filled: { [key: string]: unknown } = Object.assign(Object.create(null), properties);
    for (const key of keys) {
      const schemas = matchers.filter(({ matches }) => matches(key)).map(({ schema }) => schema);
      const own = Object.hasOwn(properties, key) ? [properties[key]] : [];
      if (schemas.length > 0)
        filled[key] = schemas.length + own.length > 1 ? { allOf: [...own, ...schemas] } : schemas[0];
    }
    node.properties = filled;
  };
}

function measure(value: unknown): { keys: Set<string>; objects: number; longestList: number } {
  const keys = new Set<string>();
  let objects = 0;
  let longestList = 0;
  const unread = [value];
  for (let next = unread.pop(); next !== undefined; next = unread.pop()) {
    if (typeof next !== "object" || next === null) continue;
    if (Array.isArray(next)) longestList = Math.max(longestList, next.length);
    else {
      objects++;
      for (const key of Object.keys(next)) keys.add(key);
    }
    for (const member of Object.values(next)) if (member !== undefined) unread.push(member);
  }
  return { keys, objects, longestList };
}

type ValidatorError = { readonly keyword: string; readonly instanceLocation: string; readonly error: string };

/** The validator also reports every enclosing keyword; only the innermost says what to do. */
const enclosing = [
  ...["properties", "additionalProperties", "unevaluatedProperties", "dependentSchemas"],
  ...["items", "prefixItems", "additionalItems", "unevaluatedItems", "$ref", "allOf", "if"],
];

function isCause({ keyword }: ValidatorError): boolean {
  return !enclosing.includes(keyword);
}

function describeError({ instanceLocation, keyword, error }: ValidatorError): string {
  const keys = instanceLocation
    .split("/")
    .slice(1)
    .map((key) => decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~"));
  const text =
    keyword === "false"
      ? "is not allowed"
      : error.replace(`format "${patternFormat}`, 'pattern "').replace(/\.$/, "");
  return keys.length > 0 ? `${keys.join(".")}: ${text}` : text;
}
